/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.h: OpenCL's functions, found at run time, so that the library can be loaded where there is no
 * OpenCL. Files include this in place of CL/cl.h, and call the functions by their usual names.
 */
#ifndef TVLM_OPENCL_LOADER_H
#define TVLM_OPENCL_LOADER_H

#include <stdbool.h>

#include <CL/cl.h>
#include <CL/cl_ext.h> /* CL_SAMPLER_MIP_FILTER_MODE_KHR */

#include "platform/compiler.h"

/* X(name): the functions that every driver has (OpenCL 1.2). */
#define TVLM_OPENCL_FUNCTIONS(X)                                                                             \
    X(clBuildProgram)                                                                                        \
    X(clCreateBuffer)                                                                                        \
    X(clCreateCommandQueue)                                                                                  \
    X(clCreateContext)                                                                                       \
    X(clCreateImage)                                                                                         \
    X(clCreateKernel)                                                                                        \
    X(clCreateProgramWithBinary)                                                                             \
    X(clCreateProgramWithSource)                                                                             \
    X(clEnqueueCopyBuffer)                                                                                   \
    X(clEnqueueCopyBufferToImage)                                                                            \
    X(clEnqueueCopyImage)                                                                                    \
    X(clEnqueueCopyImageToBuffer)                                                                            \
    X(clEnqueueFillBuffer)                                                                                   \
    X(clEnqueueFillImage)                                                                                    \
    X(clEnqueueMapBuffer)                                                                                    \
    X(clEnqueueMarkerWithWaitList)                                                                           \
    X(clEnqueueNDRangeKernel)                                                                                \
    X(clEnqueueReadBuffer)                                                                                   \
    X(clEnqueueReadImage)                                                                                    \
    X(clEnqueueUnmapMemObject)                                                                               \
    X(clEnqueueWriteBuffer)                                                                                  \
    X(clEnqueueWriteImage)                                                                                   \
    X(clFinish)                                                                                              \
    X(clFlush)                                                                                               \
    X(clGetCommandQueueInfo)                                                                                 \
    X(clGetDeviceIDs)                                                                                        \
    X(clGetDeviceInfo)                                                                                       \
    X(clGetExtensionFunctionAddressForPlatform)                                                              \
    X(clGetImageInfo)                                                                                        \
    X(clGetKernelWorkGroupInfo)                                                                              \
    X(clGetMemObjectInfo)                                                                                    \
    X(clGetPlatformIDs)                                                                                      \
    X(clGetPlatformInfo)                                                                                     \
    X(clGetProgramBuildInfo)                                                                                 \
    X(clGetProgramInfo)                                                                                      \
    X(clGetSupportedImageFormats)                                                                            \
    X(clReleaseCommandQueue)                                                                                 \
    X(clReleaseContext)                                                                                      \
    X(clReleaseEvent)                                                                                        \
    X(clReleaseKernel)                                                                                       \
    X(clReleaseMemObject)                                                                                    \
    X(clReleaseProgram)                                                                                      \
    X(clReleaseSampler)                                                                                      \
    X(clRetainCommandQueue)                                                                                  \
    X(clRetainContext)                                                                                       \
    X(clRetainMemObject)                                                                                     \
    X(clSetKernelArg)                                                                                        \
    X(clWaitForEvents)

/* X(name): functions that a loader older than OpenCL 2.0 does not have. There they are NULL. */
#define TVLM_OPENCL_NEWER_FUNCTIONS(X) X(clCreateSamplerWithProperties)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue: every driver has it */
typedef struct tvlm_opencl_table {
#define TVLM_MEMBER(name) TVLM_TYPE_OF(name) * name;
    TVLM_OPENCL_FUNCTIONS(TVLM_MEMBER)
    TVLM_OPENCL_NEWER_FUNCTIONS(TVLM_MEMBER)
#undef TVLM_MEMBER
} tvlm_opencl_table;
#pragma GCC diagnostic pop

/* Is filled by tvlm_opencl_load, and constant from then on. */
extern tvlm_opencl_table tvlm_opencl_functions;

/* The library that they are from. */
extern void *tvlm_opencl_library;

/* Finds the functions, once. Returns false where this machine has no OpenCL. It is called with the lock of
 * platform.c held. */
bool tvlm_opencl_load(void);

/* The library that $TVLM_OPENCL names; NULL: none. If it is named, no other one is taken. */
const char *tvlm_opencl_named(void);

#ifndef TVLM_OPENCL_OWN_NAMES
#define clBuildProgram                tvlm_opencl_functions.clBuildProgram
#define clCreateBuffer                tvlm_opencl_functions.clCreateBuffer
#define clCreateCommandQueue          tvlm_opencl_functions.clCreateCommandQueue
#define clCreateContext               tvlm_opencl_functions.clCreateContext
#define clCreateImage                 tvlm_opencl_functions.clCreateImage
#define clCreateKernel                tvlm_opencl_functions.clCreateKernel
#define clCreateProgramWithBinary     tvlm_opencl_functions.clCreateProgramWithBinary
#define clCreateProgramWithSource     tvlm_opencl_functions.clCreateProgramWithSource
#define clCreateSamplerWithProperties tvlm_opencl_functions.clCreateSamplerWithProperties
#define clEnqueueCopyBuffer           tvlm_opencl_functions.clEnqueueCopyBuffer
#define clEnqueueCopyBufferToImage    tvlm_opencl_functions.clEnqueueCopyBufferToImage
#define clEnqueueCopyImage            tvlm_opencl_functions.clEnqueueCopyImage
#define clEnqueueCopyImageToBuffer    tvlm_opencl_functions.clEnqueueCopyImageToBuffer
#define clEnqueueFillBuffer           tvlm_opencl_functions.clEnqueueFillBuffer
#define clEnqueueFillImage            tvlm_opencl_functions.clEnqueueFillImage
#define clEnqueueMapBuffer            tvlm_opencl_functions.clEnqueueMapBuffer
#define clEnqueueMarkerWithWaitList   tvlm_opencl_functions.clEnqueueMarkerWithWaitList
#define clEnqueueNDRangeKernel        tvlm_opencl_functions.clEnqueueNDRangeKernel
#define clEnqueueReadBuffer           tvlm_opencl_functions.clEnqueueReadBuffer
#define clEnqueueReadImage            tvlm_opencl_functions.clEnqueueReadImage
#define clEnqueueUnmapMemObject       tvlm_opencl_functions.clEnqueueUnmapMemObject
#define clEnqueueWriteBuffer          tvlm_opencl_functions.clEnqueueWriteBuffer
#define clEnqueueWriteImage           tvlm_opencl_functions.clEnqueueWriteImage
#define clFinish                      tvlm_opencl_functions.clFinish
#define clFlush                       tvlm_opencl_functions.clFlush
#define clGetCommandQueueInfo         tvlm_opencl_functions.clGetCommandQueueInfo
#define clGetDeviceIDs                tvlm_opencl_functions.clGetDeviceIDs
#define clGetDeviceInfo               tvlm_opencl_functions.clGetDeviceInfo
#define clGetExtensionFunctionAddressForPlatform                                                             \
    tvlm_opencl_functions.clGetExtensionFunctionAddressForPlatform
#define clGetImageInfo             tvlm_opencl_functions.clGetImageInfo
#define clGetKernelWorkGroupInfo   tvlm_opencl_functions.clGetKernelWorkGroupInfo
#define clGetMemObjectInfo         tvlm_opencl_functions.clGetMemObjectInfo
#define clGetPlatformIDs           tvlm_opencl_functions.clGetPlatformIDs
#define clGetPlatformInfo          tvlm_opencl_functions.clGetPlatformInfo
#define clGetProgramBuildInfo      tvlm_opencl_functions.clGetProgramBuildInfo
#define clGetProgramInfo           tvlm_opencl_functions.clGetProgramInfo
#define clGetSupportedImageFormats tvlm_opencl_functions.clGetSupportedImageFormats
#define clReleaseCommandQueue      tvlm_opencl_functions.clReleaseCommandQueue
#define clReleaseContext           tvlm_opencl_functions.clReleaseContext
#define clReleaseEvent             tvlm_opencl_functions.clReleaseEvent
#define clReleaseKernel            tvlm_opencl_functions.clReleaseKernel
#define clReleaseMemObject         tvlm_opencl_functions.clReleaseMemObject
#define clReleaseProgram           tvlm_opencl_functions.clReleaseProgram
#define clReleaseSampler           tvlm_opencl_functions.clReleaseSampler
#define clRetainCommandQueue       tvlm_opencl_functions.clRetainCommandQueue
#define clRetainContext            tvlm_opencl_functions.clRetainContext
#define clRetainMemObject          tvlm_opencl_functions.clRetainMemObject
#define clSetKernelArg             tvlm_opencl_functions.clSetKernelArg
#define clWaitForEvents            tvlm_opencl_functions.clWaitForEvents
#endif

#endif
