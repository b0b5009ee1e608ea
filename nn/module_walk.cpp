#include "module_walk.h"

#include <algorithm>
#include <functional>
#include <set>

#include "member_registry.h"

namespace taper::nn {

namespace {

// Note [How large an object is]
// Whether a member lies within a module takes the size of an object of which only the base class is known. Neither the
// addresses nor the order of construction of members tell it: a Parameter right behind a module's last known member,
// made right after it, is either a forgotten member or the next member of the struct that both are in. The one place
// where the compiler keeps the size is the delete-expression: for a class with a virtual destructor it passes the size
// of the whole object to the class's operator delete, and if that is a destroying one it does nothing else
// ([expr.delete]). So a delete-expression on whose way nothing is destroyed answers the question. The standard promises
// this for objects made by new. For those on the stack or in others it follows from how compilers must implement it:
// the expression is a virtual call that gets the address alone and cannot know where the object is.
constinit thread_local std::size_t* asked_size = nullptr;

struct Extent {
  const std::byte* begin;
  const std::byte* end;
  bool contains(const void* p) const { return std::less_equal<>()(begin, p) && std::less<>()(p, end); }
};

[[gnu::noinline]] Extent extent_of(const Module& m) {
  const auto* begin = static_cast<const std::byte*>(dynamic_cast<const void*>(&m));
  std::size_t bytes = 0;
  asked_size = &bytes;
  delete &m;  // only asks, see the note
  asked_size = nullptr;
  return {begin, begin + bytes};
}

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + '.' + name; }

std::string describe(const void* place, detail::MemberKind kind) {
  using detail::MemberKind;
  if (kind == MemberKind::module) return "the module " + to_string(*static_cast<const Module*>(place));
  std::string s = kind == MemberKind::parameter ? "a Parameter, " : "a Buffer, ";
  append_to(s, *static_cast<const Tensor*>(place));
  return s;
}

}  // namespace

void Module::operator delete(Module* m, std::destroying_delete_t, std::size_t bytes) {
  if (asked_size) {
    *asked_size = bytes;
    return;
  }
  void* memory = dynamic_cast<void*>(m);
  m->~Module();
  ::operator delete(memory);
}

void Module::operator delete(Module* m, std::destroying_delete_t, std::size_t bytes, std::align_val_t align) {
  if (asked_size) {
    *asked_size = bytes;
    return;
  }
  void* memory = dynamic_cast<void*>(m);
  m->~Module();
  ::operator delete(memory, align);
}

void Module::operator delete(void* memory) { ::operator delete(memory); }
void Module::operator delete(void* memory, std::align_val_t align) { ::operator delete(memory, align); }
void* Module::operator new(std::size_t bytes) { return ::operator new(bytes); }
void* Module::operator new(std::size_t bytes, std::align_val_t align) { return ::operator new(bytes, align); }

MemberVisitor Module::listed() const {
  MemberVisitor list;
  const_cast<Module*>(this)->members(list);

  std::set<std::string_view> names;
  const auto take_name = [&](const std::string& name) {
    check<ValueError>(!name.empty(), type_name(), ": members() lists a member without a name");
    check<ValueError>(names.insert(name).second, type_name(), ": members() lists two members as '", name, "'");
  };
  std::set<const void*> known;
  for (const auto& t : list.skipped_tensors_) known.insert(t.tensor);
  for (const auto& c : list.skipped_modules_) known.insert(c.module);
  std::vector<Extent> inner;
  for (const auto& p : list.parameters_) take_name(p.name), known.insert(p.tensor);
  for (const auto& b : list.buffers_) take_name(b.name), known.insert(b.tensor);
  for (const auto& c : list.children_) take_name(c.name), inner.push_back(extent_of(*c.module));

  const Extent here = extent_of(*this);
  for (const auto& [place, kind] : detail::members_within(here.begin, here.end)) {
    if (place == this || known.count(place) > 0) {
      if (kind == detail::MemberKind::module && place != this)
        inner.push_back(extent_of(*static_cast<const Module*>(place)));
      continue;
    }
    const bool is_inner =
        std::any_of(inner.begin(), inner.end(), [p = place](const Extent& e) { return e.contains(p); });
    const bool is_absent = kind != detail::MemberKind::module && !static_cast<const Tensor*>(place)->defined();
    if (is_inner || is_absent) continue;
    raise<ValueError>(
        type_name(), ": members() leaves out ", describe(place, kind),
        ", which is part of the module; list it there with v(\"name\", member), or name it in v.skip(member)");
  }
  return list;
}

ModuleWalk::ModuleWalk(const Module& root) { visit(const_cast<Module&>(root), ""); }

ModuleWalk::Members ModuleWalk::members(const Module& m) {
  const MemberVisitor list = m.listed();
  Members out;
  for (const auto& p : list.parameters_) out.tensors.push_back({p.name, p.tensor, Kind::parameter});
  for (const auto& b : list.buffers_)
    out.tensors.push_back({b.name, b.tensor, b.persistent ? Kind::buffer : Kind::other_buffer});
  for (const auto& c : list.children_) out.children.push_back({c.name, c.module, c.assign_clone});
  for (const auto& t : list.skipped_tensors_) out.skipped_tensors.push_back(t.tensor);
  for (const auto& c : list.skipped_modules_) out.skipped_modules.push_back({c.name, c.module, c.assign_clone});
  return out;
}

void ModuleWalk::visit(Module& m, const std::string& path) {
  check<ValueError>(std::find(above_.begin(), above_.end(), &m) == above_.end(), m.type_name(), ": members() lists '",
                    path, "', a module that contains this one");
  above_.push_back(&m);
  modules.push_back({path, &m});
  const Members list = members(m);
  for (const TensorEntry& t : list.tensors) tensors.push_back({joined(path, t.path), t.tensor, t.kind});
  for (const ModuleEntry& c : list.children) visit(*c.module, joined(path, c.path));
  above_.pop_back();
}

}  // namespace taper::nn
