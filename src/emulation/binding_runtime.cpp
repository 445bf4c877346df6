// SPDX-License-Identifier: MIT
//
// The other half of kbench_binding.hpp, which the host halves of one prelude share: pybind11 and
// torch's casters, put together when a module is loaded instead of when it is compiled.
#include "binding_runtime.hpp"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>

#include "kbench_binding.hpp"

namespace kbench_binding {
namespace {

/// One argument on its way in.
class Slot {
 public:
  virtual ~Slot() = default;
  virtual bool load(py::handle source, bool convert) = 0;
  virtual void* value() = 0;
};

template <typename T>
class SlotOf final : public Slot {
 public:
  bool load(py::handle source, bool convert) override { return caster_.load(source, convert); }
  void* value() override {
    value_.emplace(py::detail::cast_op<T>(std::move(caster_)));
    return &*value_;
  }

 private:
  py::detail::make_caster<T> caster_;
  std::optional<T> value_;
};

/// What pybind11 knows of a type.
struct Row {
  const char* name;  ///< in signatures: each '%' stands for one of `types`
  const std::type_info* const* types;
  std::unique_ptr<Slot> (*slot)();
  py::handle (*take)(void* result, py::handle parent);  ///< makes a Python object, ends the value
};

template <typename T>
Row row() {
  using Caster = py::detail::make_caster<T>;
  static constexpr auto kName = Caster::name;
  static const auto types = decltype(kName)::types();
  return {
      kName.text, types.data(),
      []() -> std::unique_ptr<Slot> { return std::make_unique<SlotOf<T>>(); },
      [](void* result, py::handle parent) {
        T& value = *static_cast<T*>(result);
        const std::unique_ptr<T, void (*)(T*)> end(&value, [](T* ended) { ended->~T(); });
        return py::handle(Caster::cast(std::move(value), py::return_value_policy::move, parent));
      }};
}

const Row& row_of(Type type) {
#define KBENCH_BINDING_ROW(name, ...) row<__VA_ARGS__>(),
  static const Row rows[] = {KBENCH_BINDING_TYPES(KBENCH_BINDING_ROW)};
#undef KBENCH_BINDING_ROW
  static const Row none = {py::detail::make_caster<py::detail::void_type>::name.text, nullptr,
                           nullptr, [](void*, py::handle) { return py::none().release(); }};
  return type == Type::kVoid ? none : rows[static_cast<std::size_t>(type)];
}

void call_handling_errors(const Function& function, void* const* arguments, void* result) {
  HANDLE_TH_ERRORS
  function.call(function.callable, arguments, result);
  END_HANDLE_TH_ERRORS_PYBIND
}

/// As the function that pybind11 makes for each signature.
py::handle dispatch(py::detail::function_call& call) {
  const auto& function = *static_cast<const Function*>(call.func.data[0]);
  std::vector<std::unique_ptr<Slot>> slots(function.count);
  std::vector<void*> arguments(function.count);
  for (std::size_t i = 0; i < function.count; ++i) {
    slots[i] = row_of(function.types[i + 1]).slot();
    if (!slots[i]->load(call.args[i], call.args_convert[i])) return PYBIND11_TRY_NEXT_OVERLOAD;
  }
  for (std::size_t i = 0; i < function.count; ++i) arguments[i] = slots[i]->value();
  alignas(std::max_align_t) std::byte result[kResultBytes];
  if (function.handles_errors)
    call_handling_errors(function, arguments.data(), result);
  else
    function.call(function.callable, arguments.data(), result);
  return row_of(function.types[0]).take(result, call.parent);
}

/// "({%}, {int}) -> torch.Tensor", with the types that pybind11 names itself.
std::string signature(const Function& function, std::vector<const std::type_info*>& types) {
  const auto name = [&](Type type) {
    const Row& row = row_of(type);
    for (auto next = row.types; next != nullptr && *next != nullptr; ++next) types.push_back(*next);
    return std::string(row.name);
  };
  std::string text = "(";
  for (std::size_t i = 0; i < function.count; ++i)
    text += (i > 0 ? ", {" : "{") + name(function.types[i + 1]) + "}";
  text += ") -> " + name(function.types[0]);
  types.push_back(nullptr);
  return text;
}

class BoundFunction : public py::cpp_function {
 public:
  BoundFunction(const py::module_& module, const Function& function) {
    auto made = make_function_record();
    py::detail::function_record& record = *made;
    record.data[0] = new Function(function);
    record.free_data = [](py::detail::function_record* ended) {
      delete static_cast<Function*>(ended->data[0]);
    };
    record.impl = dispatch;
    record.nargs_pos = static_cast<std::uint16_t>(function.count);
    py::detail::process_attributes<py::name, py::scope, py::sibling>::init(
        py::name(function.name), py::scope(module),
        py::sibling(py::getattr(module, function.name, py::none())), &record);
    if (function.doc != nullptr) record.doc = const_cast<char*>(function.doc);
    std::vector<const std::type_info*> types;
    const std::string text = signature(function, types);
    initialize_generic(std::move(made), text.c_str(), types.data(), function.count);
  }
};

/// A PyModuleDef that knows what fills its module.
struct Definition {
  PyModuleDef python;
  PyModuleDef_Slot slots[2];
  void (*bind)(Module&);
};

int execute(PyObject* module) {
  try {
    Module wrapped(module);
    reinterpret_cast<Definition*>(PyModule_GetDef(module))->bind(wrapped);
    return 0;
  } catch (py::error_already_set& error) {
    py::raise_from(error, PyExc_ImportError, "initialization failed");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  return -1;
}

}  // namespace

void* start(const char* name, void (*bind)(Module&)) {
  py::detail::get_internals();
  auto* definition = new Definition();  // Python keeps it
  definition->python = {PyModuleDef_HEAD_INIT, name,    nullptr, 0,      nullptr,
                        definition->slots,     nullptr, nullptr, nullptr};
  definition->slots[0] = {Py_mod_exec, reinterpret_cast<void*>(execute)};
  definition->bind = bind;
  return PyModuleDef_Init(&definition->python);
}

void define(void* module, const Function& function) {
  auto python = py::reinterpret_borrow<py::module_>(static_cast<PyObject*>(module));
  const BoundFunction bound(python, function);
  python.add_object(function.name, bound, true);  // an overload stands in it beside those before
}

void set_doc(void* module, const char* doc) {
  py::reinterpret_borrow<py::module_>(static_cast<PyObject*>(module)).doc() = doc;
}

}  // namespace kbench_binding
