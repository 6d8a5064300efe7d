"""The tanh that exported code brings along, as numbers for C, Python and ONNX.

The tanh of C libraries is up to 3 units in the last place away from numpy's. This one is plain
arithmetic, the same to the last bit wherever it runs, and within 1.2 units of the exact value:

    |x| < 1     x + x z P(z) / Q(z) with z = x^2
    |x| < 22    1 - 2 / (exp(2 |x|) + 1), where exp(y) = 2^k exp(r) and |r| <= ln(2) / 2
    beyond      1
"""

from math import factorial

RATIONAL_UP_TO = 1.0
ONE_FROM = 22.0

# Interpolates (tanh(x) / x - 1) / x^2 at the Chebyshev nodes of z in [0, 1]; relative error 2e-18.
# Highest power first, as Horner's rule takes them.
NUMERATOR = (
    -1.72356787874818e-08,
    -0.00024321818975486223,
    -0.021408285815806775,
    -0.3333333333333333,
)
DENOMINATOR = (0.00025423655751571255, 0.02451483564348371, 0.46422485744741954, 1.0)

PER_LN2 = 1.4426950408889634
# ln(2) in two parts; the first has so few digits that k times it is exact.
LN2_HIGH = {"double": 0.6931471803691238, "float": 0.693359375}
LN2_LOW = {"double": 1.9082149292705877e-10, "float": -0.00021219444}
EXP_TERMS = {
    "double": tuple(1 / factorial(n) for n in range(13, -1, -1)),
    "float": tuple(1 / factorial(n) for n in range(7, -1, -1)),
}
