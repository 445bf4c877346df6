# SPDX-License-Identifier: MIT
"""The least work of one call of a reference in any implementation: bytes moved and operations.

Inputs, parameters and buffers are read once. If a call only looks up elements of a tensor, only the
found elements count. Outputs are written once. The operations of products and convolutions come
from torch's counter.

There is no number of operations if algebra allows the same result with fewer: a product with a
diagonal or a triangular matrix, a product of which only a part or a sum is kept, or a product of
products.
"""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.flop_counter import flop_registry

from kbench_worker.dispatch_mode import DispatchMode
from kbench_worker.operator_cost import NO_DATA, bytes_of, is_view, tensors_in

# Operators that read from their first tensor only the elements that are in their result.
_LOOK_UP = {"embedding", "gather", "index", "index_select", "take", "take_along_dim"}
# Operators whose results are mostly zeros, at least at first.
_SPARSE = {"diag", "diag_embed", "eye", "one_hot", "tril", "triu", "tril_", "triu_", "zeros",
           "zeros_like", "new_zeros"}
# Operators that keep only a part of their input, or its sum.
_PARTS = {"diagonal", "masked_fill", "masked_fill_", "masked_select", "mean", "sum", "trace",
          "tril", "tril_", "triu", "triu_", "where", "avg_pool2d", "avg_pool3d",
          "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "cumsum"} | _LOOK_UP
# Operators after which a product is still a product.
_LINEAR = {"_to_copy", "add", "add_", "clone", "contiguous", "copy_", "div", "div_", "mul", "mul_",
           "neg", "rsub", "sub", "sub_", "cat", "stack"}


def _name(func):
    return func.overloadpacket.__name__


class LeastWork(DispatchMode):
    """Records the least work of a call of the reference on these tensors; see found()."""

    def __init__(self, sources, precision):
        super().__init__()
        self._references = {}
        self._sizes = {self._key(tensor): bytes_of(tensor) for tensor in sources}
        self._read = {key: {} for key in self._sizes}  # bytes read, by part
        self._flops = {}
        self._sparse, self._products = set(), set()
        self._parts = {}  # product: (its elements, elements of its parts taken)
        self._collapses = self._failed = False
        self._fp32 = "tf32" if precision == "tf32" else "fp32"

    def _key(self, tensor):
        """The key of a tensor's storage. The weak reference keeps its address from being reused."""
        reference = StorageWeakRef(tensor.untyped_storage())
        self._references.setdefault(reference.cdata, reference)
        return reference.cdata

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        try:
            with torch._C.DisableTorchFunction():
                self._note(func, args, kwargs, result)
        except Exception:  # the call itself worked, but its work is unknown
            self._failed = True
        return result

    def _note(self, func, args, kwargs, result):
        given = [t for t in tensors_in([args, kwargs]) if t.layout is torch.strided]
        results = [t for t in tensors_in(result) if t.layout is torch.strided]
        keys, made = [self._key(t) for t in given], [self._key(t) for t in results]
        name = _name(func)
        if name in _SPARSE:
            self._sparse.update(made)
        if is_view(func) or str(func).startswith(NO_DATA):
            taken = sum(t.numel() for t in results)
            if keys and keys[0] in self._products and results[0].numel() < given[0].numel():
                whole, before = self._parts.get(keys[0], (given[0].numel(), 0))
                self._parts[keys[0]] = (whole, before + taken)
            return
        if name in _PARTS and self._products.intersection(keys):
            self._collapses = True
        self._note_reads(name, given, keys, results)
        counter = flop_registry.get(func.overloadpacket)
        if counter is not None:
            self._note_product(given, keys, made, int(counter(*args, **kwargs, out_val=result)))
        elif name in _LINEAR:
            if self._products.intersection(keys):
                self._products.update(made)
            if self._sparse.intersection(keys) and name not in ("add", "add_", "sub", "sub_"):
                self._sparse.update(made)
        elif name not in _SPARSE:  # a result written in place is no longer a product
            self._products.difference_update(made)
            self._sparse.difference_update(made)

    def _note_reads(self, name, given, keys, results):
        for i, (tensor, key) in enumerate(zip(given, keys)):
            if key not in self._read:
                continue
            found = sum(map(bytes_of, results)) if name in _LOOK_UP and i == 0 else None
            size = bytes_of(tensor) if found is None else min(found, bytes_of(tensor))
            part = (tensor.storage_offset(), tensor.shape, tensor.stride())
            self._read[key][part] = max(self._read[key].get(part, 0), size)

    def _note_product(self, given, keys, made, flops):
        if self._sparse.intersection(keys) or self._products.intersection(keys):
            self._collapses = True
        self._products.update(made)
        dtype = next((t.dtype for t in given if t.is_floating_point()), torch.float32)
        kind = {torch.float64: "fp64", torch.float16: "fp16", torch.bfloat16: "bf16"}.get(
            dtype, self._fp32)
        self._flops[kind] = self._flops.get(kind, 0) + flops

    def found(self, outputs):
        """The least work in the form of signature.hpp; None if the call could not be traced."""
        if self._failed:
            return None
        written = {self._key(t): bytes_of(t) for t in outputs}
        if any(taken < whole for whole, taken in self._parts.values()):
            self._collapses = True
        return {"read_bytes": sum(min(sum(parts.values()), self._sizes[key])
                                  for key, parts in self._read.items()),
                "written_bytes": sum(size for key, size in written.items()
                                     if key not in self._read),
                "flops": {} if self._collapses else self._flops}
