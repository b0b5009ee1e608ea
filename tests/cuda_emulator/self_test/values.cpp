// Prints the numbers behind the names that the shim re-defines; built with the real headers and
// with the shim, the two outputs must be equal.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstdio>
#define P(x) std::printf(#x " %d\n", int(x))
#define S(t) std::printf("sizeof " #t " %zu align %zu\n", sizeof(t), alignof(t))
int main() {
  P(cudaErrorInvalidValue);
  P(cudaErrorMemoryAllocation);
  P(cudaErrorInvalidConfiguration);
  P(cudaErrorInvalidDevicePointer);
  P(cudaErrorInvalidMemcpyDirection);
  P(cudaErrorInvalidDevice);
  P(cudaErrorInvalidResourceHandle);
  P(cudaErrorNotReady);
  P(cudaErrorLaunchFailure);
  P(cudaErrorStreamCaptureUnsupported);
  P(cudaErrorStreamCaptureInvalidated);
  P(cudaErrorStreamCaptureUnjoined);
  P(cudaErrorUnknown);
  P(cudaMemcpyHostToDevice);
  P(cudaMemcpyDeviceToHost);
  P(cudaMemcpyDeviceToDevice);
  P(cudaMemcpyDefault);
  P(cudaMemoryTypeDevice);
  P(cudaStreamNonBlocking);
  P(cudaEventDisableTiming);
  P(cudaStreamCaptureModeGlobal);
  P(cudaStreamCaptureModeThreadLocal);
  P(cudaStreamCaptureModeRelaxed);
  P(cudaStreamCaptureStatusActive);
  P(cudaFuncAttributeMaxDynamicSharedMemorySize);
  P(cudaDevAttrMultiProcessorCount);
  P(cudaDevAttrComputeCapabilityMajor);
  P(cudaDevAttrComputeCapabilityMinor);
  P(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  P(cudaLaunchAttributeProgrammaticStreamSerialization);
  P(CUBLAS_STATUS_NOT_INITIALIZED);
  P(CUBLAS_STATUS_ALLOC_FAILED);
  P(CUBLAS_STATUS_INVALID_VALUE);
  P(CUBLAS_STATUS_NOT_SUPPORTED);
  P(CUBLAS_OP_N);
  P(CUBLAS_OP_T);
  P(CUBLAS_DEFAULT_MATH);
  P(CUBLAS_PEDANTIC_MATH);
  P(CUBLAS_TF32_TENSOR_OP_MATH);
  P(CUBLAS_POINTER_MODE_DEVICE);
  P(CUBLAS_COMPUTE_32F);
  P(CUBLAS_COMPUTE_64F);
  P(CUBLAS_COMPUTE_32F_PEDANTIC);
  P(CUBLAS_COMPUTE_32F_FAST_16BF);
  P(CUBLAS_COMPUTE_32F_FAST_TF32);
  P(CUBLAS_GEMM_DEFAULT);
  P(CUDA_R_32F);
  P(CUDA_R_64F);
  P(CUDA_R_16F);
  P(CUDA_R_16BF);
  P(CUDA_R_8I);
  P(CUDA_R_32I);
  P(CUBLASLT_EPILOGUE_DEFAULT);
  P(CUBLASLT_EPILOGUE_RELU);
  P(CUBLASLT_EPILOGUE_BIAS);
  P(CUBLASLT_EPILOGUE_RELU_BIAS);
  P(CUBLASLT_EPILOGUE_RELU_AUX);
  P(CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  P(CUBLASLT_EPILOGUE_DRELU);
  P(CUBLASLT_EPILOGUE_DRELU_BGRAD);
  P(CUBLASLT_EPILOGUE_BGRADA);
  P(CUBLASLT_EPILOGUE_BGRADB);
  P(CUBLASLT_MATMUL_DESC_TRANSA);
  P(CUBLASLT_MATMUL_DESC_TRANSB);
  P(CUBLASLT_MATMUL_DESC_EPILOGUE);
  P(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  P(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  P(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  P(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  P(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  P(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  P(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  P(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  S(float2);
  S(float4);
  S(int4);
  S(uint4);
  S(dim3);
  S(double2);
}
