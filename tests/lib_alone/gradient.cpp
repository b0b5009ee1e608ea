// Asks for a gradient, which a program without autograd cannot have: this must not link, and the linker must name what
// is missing.
#include <taper/factory.h>

int main() { return taper::ones({1}, {.requires_grad = true}).numel() == 1 ? 0 : 1; }
