#include <taper/grad_mode.h>
#include <taper/nn/sequential.h>

#include <algorithm>
#include <map>
#include <set>
#include <typeinfo>

#include "module_walk.h"

namespace taper::nn {

namespace {

template <class Entry>
bool same_names(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Entry& x, const Entry& y) { return x.path == y.path; });
}

std::string one_line(const Module& m) { return m.type_name() + '(' + m.extra_repr() + ')'; }

/// Brings a module that was made anew to what another one is.
class Copier {
 public:
  /// `is_clone`: what `to` holds are copies, of which only those of shared tensors are too many.
  void visit(const Module& from, Module& to, const std::string& path, bool is_clone) {
    // One module under two names, one that both have because neither owns it, one that skips what it belongs to.
    if (&from == &to || !seen_.insert({&from, &to}).second) return;
    const ModuleWalk::Members mine = ModuleWalk::members(from), theirs = ModuleWalk::members(to);
    if (const std::string misfit = difference(from, mine, to, theirs); !misfit.empty())
      raise<ValueError>(
          "clone: ", path.empty() ? "this " + from.type_name() : '\'' + path + "' (" + from.type_name() + ')', ' ',
          misfit, "; give its class", path.empty() ? "" : ", or that of the module around it,",
          " a method clone(), see nn::clone()");
    for (std::size_t i = 0; i < mine.tensors.size(); ++i)
      copy(*mine.tensors[i].tensor, *theirs.tensors[i].tensor, is_clone);
    visit_all(mine.children, theirs.children, path, is_clone);
    // A class may skip more or less, such as what it does not own, from one object to another.
    if (mine.skipped_tensors.size() == theirs.skipped_tensors.size())
      for (std::size_t i = 0; i < mine.skipped_tensors.size(); ++i)
        copy(*mine.skipped_tensors[i], *theirs.skipped_tensors[i], is_clone);
    if (mine.skipped_modules.size() == theirs.skipped_modules.size())
      visit_all(mine.skipped_modules, theirs.skipped_modules, path, is_clone);
    ModuleWalk::set_training(to, from.is_training());
  }

 private:
  using Members = ModuleWalk::Members;
  using Entries = std::vector<ModuleWalk::ModuleEntry>;

  static std::string difference(const Module& from, const Members& mine, const Module& to, const Members& theirs) {
    if (typeid(from) != typeid(to)) return "would be a " + to.type_name();
    if (!same_names(mine.tensors, theirs.tensors) || !same_names(mine.children, theirs.children))
      return "has other members than a new one";
    if (from.extra_repr() != to.extra_repr()) return "would be " + one_line(to) + " instead of " + one_line(from);
    return {};
  }

  void visit_all(const Entries& from, const Entries& to, const std::string& path, bool is_clone) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::string child = path.empty() ? from[i].path : path + '.' + from[i].path;
      const bool cloned = !is_clone && is_to_be_replaced(*from[i].module, *to[i].module) &&
                          ModuleWalk::assign_clone(from[i], *to[i].module);
      visit(*from[i].module, *to[i].module, child, is_clone || cloned);
    }
  }

  /// A Sequential is nothing but its children, and others may point to those: as long as they fit they stay.
  static bool is_to_be_replaced(const Module& from, const Module& to) {
    if (&from == &to) return false;
    if (typeid(from) != typeid(Sequential) || typeid(to) != typeid(Sequential)) return true;
    return !same_names(ModuleWalk::members(from).children, ModuleWalk::members(to).children);
  }

  /// A shared tensor stays shared.
  void copy(const Tensor& from, Tensor& to, bool is_clone) {
    if (&from == &to) return;
    Tensor& copy = copies_[from.defined() ? from.impl() : nullptr];
    if (from.defined() && !copy.defined()) {
      copy = is_clone && to.defined() ? to : from.detach().clone();
      if (from.requires_grad()) copy.requires_grad_();
    }
    to = copy;
  }

  std::map<const TensorImpl*, Tensor> copies_;
  std::set<std::pair<const Module*, const Module*>> seen_;
};

}  // namespace

void detail::copy_members(const Module& from, Module& to, bool children_are_clones) {
  const ModuleWalk check_of_lists(from);
  const NoGradGuard no_grad;
  Copier().visit(from, to, "", children_are_clones);
}

}  // namespace taper::nn
