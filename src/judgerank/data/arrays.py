"""Names of the kinds of arrays; shapes are said where they are used."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.signedinteger]
UIntArray = NDArray[np.unsignedinteger]
BoolArray = NDArray[np.bool_]
ObjectArray = NDArray[np.object_]
AnyArray = NDArray[np.generic]
