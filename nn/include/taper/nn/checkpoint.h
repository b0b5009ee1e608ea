#pragma once
#include <taper/nn/lr_scheduler.h>
#include <taper/nn/module.h>
#include <taper/nn/optim.h>
#include <taper/random.h>

#include <cstdint>
#include <string>

namespace taper::nn {

/// What belongs to a run of training beside model and optimizer.
struct CheckpointExtras {
  optim::LRScheduler* scheduler = nullptr;
  Generator* generator = &default_generator();  ///< where dropout and the like draw from
};

/// What a checkpoint says of the run.
struct CheckpointInfo {
  std::int64_t epoch = 0;  ///< epochs done; for DataLoader::set_epoch()
  Metadata metadata = {};
};

/// Writes everything that the next epoch depends on to one safetensors file, whole or not at all, see save_file():
/// training that goes on from it takes the same steps, bit for bit, as if it had not been interrupted.
/// To save a model alone: `save_file(model.state_dict(), path)`.
void save_checkpoint(const std::string& path, const Module& model, const optim::Optimizer& optimizer,
                     const CheckpointInfo& info, const CheckpointExtras& extras = {});

/// Brings model, optimizer and extras to where they were when save_checkpoint() wrote the file. Throws as load_file(),
/// Module::load_state_dict() and Optimizer::load_state_dict() do, and ValueError if the file has other parts than are
/// asked for; nothing has then changed.
CheckpointInfo load_checkpoint(const std::string& path, Module& model, optim::Optimizer& optimizer,
                               const CheckpointExtras& extras = {});

}  // namespace taper::nn
