"""A Lance file in an S3 bucket, written and read by lancet, against a server that this script starts.

    s3.py --example PROGRAM

The program is the example `s3` of `lancet-object-store`. What it wrote is read by the reference too.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from lance.file import LanceFileReader
from moto.server import ThreadedMotoServer

BUCKET = 'tables'
KEYS = {'AWS_ACCESS_KEY_ID': 'key', 'AWS_SECRET_ACCESS_KEY': 'secret', 'AWS_REGION': 'us-east-1'}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--example', required=True)
    example = parser.parse_args().example
    start = time.time()
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f'http://{host}:{port}'
    try:
        urllib.request.urlopen(urllib.request.Request(f'{endpoint}/{BUCKET}', method='PUT')).read()
        done = subprocess.run([example, endpoint, BUCKET], env={**os.environ, **KEYS}, timeout=300)
        if done.returncode:
            sys.exit(done.returncode)
        with tempfile.TemporaryDirectory(prefix='lancet-') as folder:
            path = Path(folder) / 'table.lance'
            path.write_bytes(urllib.request.urlopen(f'{endpoint}/{BUCKET}/folder/table.lance').read())
            table = LanceFileReader(str(path)).read_all().to_table()
    finally:
        server.stop()
    if table.num_rows != 2_000_000 or table['name'][77].as_py() != f'name {77 * 7919 % 1_000_003}':
        sys.exit('the reference reads something else')
    print(f'a file in S3, written and read, {time.time() - start:.0f} s')


if __name__ == '__main__':
    main()
