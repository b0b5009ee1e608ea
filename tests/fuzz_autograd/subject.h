#pragma once
// The same programs through Taper.
#include <taper/grad_mode.h>
#include <taper/tensor.h>

#include <map>
#include <string>
#include <variant>

#include "program.h"

namespace fuzz {

struct Outcome {
  unsigned refused = 0;  // one Refusal, or none
  std::string message;
};

class Subject {
 public:
  ~Subject();
  Outcome execute(const Step& s);
  const taper::Tensor& at(int variable) const { return variables_.at(variable); }

 private:
  void run(const Step& s);
  taper::Tensor& get(int variable) { return variables_.at(variable); }
  void assign(const Step& s);
  void differentiate(const Step& s);

  std::map<int, taper::Tensor> variables_;
  using Mode = std::variant<taper::NoGradGuard, taper::InferenceMode>;
  std::vector<std::unique_ptr<Mode>> modes_;
};

}  // namespace fuzz
