"""As much of torch as `lancet.torch` uses: tensors are arrays of numpy."""

import numpy

from_dlpack = numpy.from_dlpack
cat = numpy.concatenate
