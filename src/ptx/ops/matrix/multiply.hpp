// SPDX-License-Identifier: MIT
#pragma once

#include "ptx/ops/matrix/floats.hpp"

/// Decoding that mma and wgmma have in common. Form<Arithmetic> is the instruction's body.
namespace kbench::ptx::matrix {

template <template <class> class Form, Element element>
struct OnFloats {
  template <unsigned bytes>
  using Body = Form<Floats<element, bytes>>;
};

template <template <class> class Form, Element element>
struct OnIntegers {
  template <unsigned bytes>
  using Body = Form<Integers<element, bytes>>;
};

/// Chooses the arithmetic for elements that both instructions treat alike; rejects others.
template <template <class> class Form>
void choose_multiply(Decode& d, Element element) {
  switch (element) {
    case Element::kF16:
      return d.control(pick_by_width<OnFloats<Form, Element::kF16>::template Body>());
    case Element::kBf16:
      return d.control(pick_by_width<OnFloats<Form, Element::kBf16>::template Body>());
    case Element::kTf32:
      return d.control(pick_by_width<OnFloats<Form, Element::kTf32>::template Body>());
    case Element::kS8:
    case Element::kU8:
      return d.control(pick_by_width<OnIntegers<Form, Element::kS8>::template Body>());
    case Element::kB1:
      return d.control(pick<Form<Bits>>());
    default:
      d.reject("this type is not supported");
  }
}

/// True for the types that kOtherA and kOtherB indicate.
inline bool is_other(const std::string& type) { return type == "e5m2" || type[0] == 'u'; }

}  // namespace kbench::ptx::matrix
