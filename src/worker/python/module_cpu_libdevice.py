# SPDX-License-Identifier: MIT
"""CUDA's libdevice as numpy functions by name, because Triton's interpreter lacks it."""

import functools

import torch

from kbench_worker.module_refusals import Unsupported, refusal


def _numpy():
    import numpy
    return numpy


def _special(name):
    """A function of torch.special, in the precision of its arguments."""

    def compute(*arrays):
        numpy = _numpy()
        tensors = [torch.from_numpy(numpy.ascontiguousarray(array)) for array in arrays]
        return getattr(torch.special, name)(*tensors).numpy()

    return compute


def _gamma(x):
    numpy = _numpy()
    import math

    def one(value):
        try:
            return math.gamma(value)
        except (ValueError, OverflowError):
            return math.nan if value < 0 else math.inf

    return numpy.vectorize(one, otypes=[x.dtype])(x)


def _named(name):
    return lambda *arrays: getattr(_numpy(), name)(*arrays)


def _rounded(name):
    """Conversion of floats to integers: saturating, NaN to 0, as the hardware does."""

    def convert(x, bounds):
        numpy = _numpy()
        low, high = bounds
        rounded = numpy.nan_to_num(getattr(numpy, name)(x.astype(numpy.float64)), nan=0.0)
        return numpy.clip(rounded, float(low), float(high))

    return convert


def _bits(x):
    """Each integer's bits along a new last axis, highest first."""
    numpy = _numpy()
    width = 8 * x.dtype.itemsize
    places = numpy.arange(width - 1, -1, -1, dtype=numpy.uint64)
    unsigned = x.view(f"u{x.dtype.itemsize}").astype(numpy.uint64)
    return (unsigned[..., None] >> places & 1).astype(numpy.int64)


def _leading_zeros(x):
    bits = _bits(x)
    return _numpy().where(bits.any(-1), bits.argmax(-1), bits.shape[-1])


def _first_set(x):
    bits = _bits(x)[..., ::-1]
    return _numpy().where(bits.any(-1), bits.argmax(-1) + 1, 0)


_ROUNDINGS = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}

# numpy's name, if it differs or if another function has the same result.
_NUMPY = {
    "fabs": "abs", "abs": "abs", "llabs": "abs", "acos": "arccos", "acosh": "arccosh",
    "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "pow": "power", "powi": "power", "fast_pow": "power", "fmod": "fmod",
    "nearbyint": "rint", "rint": "rint", "llrint": "rint", "fmin": "fmin", "fmax": "fmax",
    "min": "minimum", "max": "maximum", "fast_sin": "sin", "fast_cos": "cos", "fast_tan": "tan",
    "fast_exp": "exp", "fast_log": "log", "fast_log2": "log2", "fast_log10": "log10",
    "fast_tanh": "tanh", "finite": "isfinite",
    "scalbn": "ldexp",
}
_SAME = ("ceil floor trunc sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh "
         "cbrt hypot copysign nextafter isnan isinf isfinite signbit ldexp").split()

def _round(x):
    """Rounds half away from zero, as C does."""
    return _numpy().copysign(_numpy().floor(_numpy().abs(x) + x.dtype.type(0.5)), x)


_COMPUTED = {
    "rsqrt": lambda x: 1 / _numpy().sqrt(x),
    "rcbrt": lambda x: 1 / _numpy().cbrt(x),
    "rcp": lambda x: 1 / x,
    "exp10": lambda x: _numpy().power(x.dtype.type(10), x),
    "fast_exp10": lambda x: _numpy().power(x.dtype.type(10), x),
    "fast_fdivide": lambda x, y: x / y,
    "fast_divide": lambda x, y: x / y,
    "saturate": lambda x: _numpy().nan_to_num(_numpy().clip(x, 0, 1), nan=0.0),
    "fma": lambda x, y, z: (x.astype("f8") * y.astype("f8") + z.astype("f8")).astype(x.dtype),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "fdim": lambda x, y: _numpy().maximum(x - y, 0),
    "sinpi": lambda x: _numpy().sin(x * x.dtype.type(_numpy().pi)),
    "cospi": lambda x: _numpy().cos(x * x.dtype.type(_numpy().pi)),
    "rhypot": lambda x, y: 1 / _numpy().hypot(x, y),
    "norm3d": lambda x, y, z: _numpy().sqrt(x * x + y * y + z * z),
    "norm4d": lambda *x: _numpy().sqrt(sum(item * item for item in x)),
    "rnorm3d": lambda *x: 1 / _numpy().sqrt(sum(item * item for item in x)),
    "rnorm4d": lambda *x: 1 / _numpy().sqrt(sum(item * item for item in x)),
    "logb": lambda x: _numpy().floor(_numpy().log2(_numpy().abs(x))),
    "ilogb": lambda x: _numpy().floor(_numpy().log2(_numpy().abs(x))),
    "popc": lambda x: _bits(x).sum(-1),
    "popcll": lambda x: _bits(x).sum(-1),
    "clz": _leading_zeros,
    "clzll": _leading_zeros,
    "ffs": _first_set,
    "ffsll": _first_set,
    "remainder": lambda x, y: x - _numpy().rint(x / y) * y,
    "round": _round,
    "llround": _round,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "erfinv": _special("erfinv"),
    "erfcx": _special("erfcx"),
    "normcdf": _special("ndtr"),
    "normcdfinv": _special("ndtri"),
    "lgamma": _special("gammaln"),
    "tgamma": _gamma,
    "j0": _special("bessel_j0"),
    "j1": _special("bessel_j1"),
    "y0": _special("bessel_y0"),
    "y1": _special("bessel_y1"),
    "cyl_bessel_i0": _special("i0"),
    "cyl_bessel_i1": _special("i1"),
    "int_as_float": lambda x: x.view("f4"),
    "float_as_int": lambda x: x.view("i4"),
    "float_as_uint": lambda x: x.view("u4"),
    "uint_as_float": lambda x: x.view("f4"),
    "longlong_as_double": lambda x: x.view("f8"),
    "double_as_longlong": lambda x: x.view("i8"),
}


@functools.lru_cache(None)
def _function(symbol):
    """The function of a libdevice symbol such as __nv_tanhf; None if there is none."""
    name = symbol.removeprefix("__nv_")
    base, _, suffix = name.rpartition("_")
    if base and suffix in _ROUNDINGS:
        if "2int" in base or "2uint" in base or "2ll" in base or "2ull" in base:
            return _rounded(_ROUNDINGS[suffix])
        if "2float" in base or "2double" in base:
            return lambda x: x  # the caller converts to the result's type
        # Rounding modes other than to nearest differ only in the last bit.
        typed = base[0] in "fd" and base[1:] in ("add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt")
        name = base[1:] if typed else base
    for candidate in (name, name.removesuffix("f"), name.removesuffix("d")):
        if candidate in _COMPUTED:
            return _COMPUTED[candidate]
        if candidate in _NUMPY:
            return _named(_NUMPY[candidate])
        if candidate in _SAME:
            return _named(candidate)
    return None


def _extern_elementwise(interpreter):
    """InterpreterBuilder.create_extern_elementwise, which Triton's interpreter does not
    implement."""

    def create(self, lib_name, lib_path, symbol, arguments, result_type, is_pure):
        function = _function(symbol)
        if function is None:
            raise refusal(Unsupported(f"libdevice's {symbol} in Triton's interpreter"))
        scalar = getattr(result_type, "scalar", result_type)
        dtype = interpreter._get_np_dtype(scalar)
        arrays = [argument.data for argument in arguments]
        numpy = _numpy()
        if numpy.dtype(dtype).kind in "iu" and function.__name__ == "convert":
            limits = numpy.iinfo(dtype)
            data = function(*arrays, (limits.min, limits.max))
        else:
            data = function(*arrays)
        return interpreter.TensorHandle(numpy.asarray(data).astype(dtype), scalar)

    return create


def provide_libdevice(interpreter):
    """Makes triton.language.extra's libdevice callable in interpreted kernels."""
    from triton.language import core
    from triton.language.extra import libdevice as stubs
    from triton.language.extra.cuda import libdevice
    interpreter.InterpreterBuilder.create_extern_elementwise = _extern_elementwise(interpreter)
    if hasattr(interpreter, "interpreter_semantic"):
        compiler = {"_semantic": interpreter.interpreter_semantic}
    else:  # before Triton 3.4
        compiler = {"_builder": interpreter.interpreter_builder}
    for name, function in list(vars(libdevice).items()):
        if core.is_builtin(function):
            bound = functools.partial(function, **compiler)
            setattr(libdevice, name, bound)
            setattr(stubs, name, bound)
