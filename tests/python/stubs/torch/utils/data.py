"""Datasets, and a loader with worker processes that ask them as torch's do."""

import multiprocessing


class Dataset:
    pass


class IterableDataset(Dataset):
    pass


class _Info:
    def __init__(self, id, num_workers):
        self.id, self.num_workers = id, num_workers


_info = None


def get_worker_info():
    return _info


def _work(dataset, worker, workers, batches, collate, queue):
    global _info
    _info = _Info(worker, workers)
    try:
        if batches is None:
            found = [pickled(batch) for batch in dataset]
        else:
            found = [pickled(collate(dataset.__getitems__(rows))) for rows in batches[worker::workers]]
        queue.put((worker, found))
    except BaseException as error:  # so that the parent does not wait for ever
        queue.put((worker, error))
        raise


def pickled(batch):
    return {name: getattr(values, "tolist", lambda: values)() for name, values in batch.items()}


def load(dataset, workers, context, batches=None, collate=None):
    """All batches in the order in which a loader gives them: worker by worker, in turn."""
    context = multiprocessing.get_context(context)
    queue = context.Queue()
    processes = [
        context.Process(target=_work, args=(dataset, worker, workers, batches, collate, queue)) for worker in range(workers)
    ]
    for process in processes:
        process.start()
    parts = dict(queue.get(timeout=120) for _ in processes)
    for process in processes:
        process.join(60)
    for part in parts.values():
        if isinstance(part, BaseException):
            raise part
    longest = max(len(part) for part in parts.values())
    return [parts[worker][turn] for turn in range(longest) for worker in range(workers) if turn < len(parts[worker])]


class Staying:
    """Worker processes that stay: each iterates over its copy whenever it is asked to."""

    def __init__(self, dataset, workers):
        context = multiprocessing.get_context("fork")
        self.pipes = [context.Pipe() for _ in range(workers)]
        self.processes = [
            context.Process(target=self._work, args=(dataset, worker, workers, there), daemon=True)
            for worker, (_, there) in enumerate(self.pipes)
        ]
        for process in self.processes:
            process.start()

    @staticmethod
    def _work(dataset, worker, workers, pipe):
        global _info
        _info = _Info(worker, workers)
        while pipe.recv():
            pipe.send([pickled(batch) for batch in dataset])

    def load(self):
        for here, _ in self.pipes:
            here.send(True)
        parts = [here.recv() if here.poll(60) else [] for here, _ in self.pipes]
        longest = max(map(len, parts))
        return [part[turn] for turn in range(longest) for part in parts if turn < len(part)]

    def end(self):
        for (here, _), process in zip(self.pipes, self.processes):
            here.send(False)
            process.join(60)
