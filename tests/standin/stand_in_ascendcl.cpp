// SPDX-License-Identifier: Apache-2.0
// A STAND-IN for libascendcl.so, not AscendCL: the calls that pyasc makes, with kernels run on pyasc's model of a core.
//
// Calls out of order, unknown handles and wrong sizes give the error code that the toolchain page has for them. What the
// model finds in a kernel is told as a fault of a core when the stream is synchronised, as a device would.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interface.h"

namespace {

constexpr int OK = 0, INVALID = 100000, NOT_INITIALISED = 100001, REPEATED = 100002, NO_FILE = 100003;
constexpr int NO_KERNEL = 100029, NO_CONTEXT = 107002, BAD_HANDLE = 107017, VECTOR_FAULT = 507035;

struct Memory {
    std::vector<uint8_t> block;
    std::vector<uint8_t> undefined;
    uint8_t* start;
    size_t size;
};

struct Function {
    void (*call)(const void* const*);
    uint32_t (*arguments)(uint32_t*);
    int kind;
};

struct Arguments {
    Function* function;
    std::vector<std::vector<uint8_t>> values;
    bool complete;
};

bool initialised = false;
thread_local bool has_device = false;
std::map<uint8_t*, Memory> memories;
std::set<void*> binaries, streams, functions, handles;
std::string message;
int fault = OK;

int fail(int code, const std::string& text)
{
    message = text;
    return code;
}

int ready()
{
    if (!initialised) {
        return fail(NOT_INITIALISED, "stand-in: aclInit was not called");
    }
    return has_device ? OK : fail(NO_CONTEXT, "stand-in: aclrtSetDevice was not called in this thread");
}

Memory* memory_at(const void* address, size_t size)
{
    for (auto& [start, each] : memories) {
        const auto* at = static_cast<const uint8_t*>(address);
        if (at >= start && at + size <= start + each.size) {
            return &each;
        }
    }
    return nullptr;
}

int run(Function& function, int blocks, const Arguments& arguments)
{
    uint32_t sizes[64];
    const uint32_t count = function.arguments(sizes);
    if (count != arguments.values.size()) {
        return fail(INVALID, "stand-in: the kernel takes another number of arguments");
    }
    std::vector<const void*> pointers;
    for (uint32_t i = 0; i < count; ++i) {
        // What is narrower than four bytes comes in four.
        if (arguments.values[i].size() != (sizes[i] < 4 ? 4 : sizes[i])) {
            return fail(INVALID, "stand-in: argument " + std::to_string(i) + " has another size in the kernel");
        }
        pointers.push_back(arguments.values[i].data());
    }
    pyasc_model::Launch* launch = pyasc_model_create(1, 0, blocks, function.kind);
    std::ifstream soc(STAND_IN_SOC);
    std::string key;
    double value;
    while (soc >> key >> value) {
        pyasc_model_soc(launch, key.c_str(), &value, 1);
    }
    pyasc_model_limit(launch, 60);
    for (auto& [start, each] : memories) {
        pyasc_model_buffer(launch, "device memory", start, each.size, each.undefined.data(), 1);
    }
    const std::string report = pyasc_model_run(launch, function.call, pointers.data());
    pyasc_model_destroy(launch);
    if (report.find("\"findings\": []") == std::string::npos || report.find("\"error\": \"\"") == std::string::npos) {
        return fail(VECTOR_FAULT, "stand-in: the model says " + report);
    }
    return OK;
}

}  // namespace

extern "C" {

int aclInit(const char*)
{
    if (initialised) {
        return fail(REPEATED, "stand-in: aclInit was called before");
    }
    initialised = true;
    return OK;
}

const char* aclGetRecentErrMsg() { return message.c_str(); }

const char* aclrtGetSocName()
{
    const char* chosen = std::getenv("STAND_IN_SOC_NAME");
    return chosen == nullptr ? "Ascend910B1" : chosen;
}

int aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch)
{
    *major = *minor = *patch = 0;
    return OK;
}

int aclrtGetDeviceCount(uint32_t* count)
{
    *count = std::getenv("STAND_IN_NO_DEVICE") == nullptr ? 1 : 0;
    return OK;
}

int aclrtSetDevice(int32_t device)
{
    has_device = initialised && device == 0;
    return has_device ? OK : fail(INVALID, "stand-in: no such device");
}

int aclrtCreateStream(void** stream)
{
    const int code = ready();
    *stream = new int(0);
    streams.insert(*stream);
    return code;
}

int aclrtMalloc(void** address, size_t size, int)
{
    if (const int code = ready()) {
        return code;
    }
    if (size == 0) {
        return fail(INVALID, "stand-in: 0 bytes");
    }
    // Aligned as the real one promises, and no better.
    Memory made{std::vector<uint8_t>(size + 1024, 0xff), std::vector<uint8_t>(size, 0xff), nullptr, size};
    const auto raw = reinterpret_cast<uintptr_t>(made.block.data());
    made.start = made.block.data() + ((-raw) % 512 + 64);
    *address = made.start;
    memories.emplace(made.start, std::move(made));
    return OK;
}

int aclrtFree(void* address)
{
    return memories.erase(static_cast<uint8_t*>(address)) ? OK : fail(INVALID, "stand-in: not allocated");
}

int aclrtMemcpy(void* target, size_t most, const void* source, size_t size, int kind)
{
    if (const int code = ready()) {
        return code;
    }
    Memory* memory = memory_at(kind == 1 ? target : source, size);
    if (memory == nullptr || size > most || (kind != 1 && kind != 2)) {
        return fail(INVALID, "stand-in: a copy outside of device memory");
    }
    if (kind == 1) {
        std::memset(memory->undefined.data() + (static_cast<uint8_t*>(target) - memory->start), 0, size);
    } else {
        const auto first = memory->undefined.begin() + (static_cast<const uint8_t*>(source) - memory->start);
        for (auto at = first; at != first + static_cast<std::ptrdiff_t>(size); ++at) {
            if (*at != 0) {
                return fail(VECTOR_FAULT, "stand-in: a result was never written");
            }
        }
    }
    std::memcpy(target, source, size);
    return OK;
}

int aclrtMemset(void* target, size_t most, int32_t value, size_t size)
{
    Memory* memory = memory_at(target, size);
    if (memory == nullptr || size > most) {
        return fail(INVALID, "stand-in: not device memory");
    }
    std::memset(memory->undefined.data() + (static_cast<uint8_t*>(target) - memory->start), 0, size);
    std::memset(target, value, size);
    return OK;
}

struct LoadOption {
    int type;
    uint32_t value[4];
};

struct LoadOptions {
    LoadOption* options;
    size_t count;
};

int aclrtBinaryLoadFromFile(const char* path, const LoadOptions* options, void** handle)
{
    if (const int code = ready()) {
        return code;
    }
    if (options == nullptr || options->count != 1 || options->options[0].type != 2) {
        return fail(INVALID, "stand-in: the magic of the object is not told");
    }
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == nullptr) {
        return fail(NO_FILE, std::string("stand-in: ") + dlerror());
    }
    binaries.insert(*handle);
    return OK;
}

int aclrtBinaryGetFunction(void* binary, const char* name, void** handle)
{
    if (!binaries.count(binary)) {
        return fail(BAD_HANDLE, "stand-in: not a loaded object");
    }
    const std::string symbol = name;
    void* call = dlsym(binary, ("pyasc_model_call_" + symbol).c_str());
    void* arguments = dlsym(binary, ("pyasc_model_args_" + symbol).c_str());
    void* kind = dlsym(binary, ("stand_in_kind_" + symbol).c_str());
    if (call == nullptr || arguments == nullptr || kind == nullptr) {
        return fail(NO_KERNEL, "stand-in: no kernel " + symbol);
    }
    *handle = new Function{reinterpret_cast<void (*)(const void* const*)>(call),
                           reinterpret_cast<uint32_t (*)(uint32_t*)>(arguments), *static_cast<const int*>(kind)};
    functions.insert(*handle);
    return OK;
}

int aclrtGetHardwareSyncAddr(void** address)
{
    // Known to stand_in_builtins.h.
    *address = reinterpret_cast<void*>(0x5aff00ULL);
    return OK;
}

int aclrtKernelArgsInit(void* function, void** handle)
{
    if (!functions.count(function)) {
        return fail(BAD_HANDLE, "stand-in: not a function");
    }
    *handle = new Arguments{static_cast<Function*>(function), {}, false};
    handles.insert(*handle);
    return OK;
}

int aclrtKernelArgsAppend(void* handle, const void* value, size_t size, void**)
{
    auto* arguments = static_cast<Arguments*>(handle);
    if (!handles.count(handle) || arguments->complete) {
        return fail(BAD_HANDLE, "stand-in: arguments cannot be added");
    }
    const auto* bytes = static_cast<const uint8_t*>(value);
    arguments->values.emplace_back(bytes, bytes + size);
    return OK;
}

int aclrtKernelArgsFinalize(void* handle)
{
    if (!handles.count(handle)) {
        return fail(BAD_HANDLE, "stand-in: not arguments");
    }
    static_cast<Arguments*>(handle)->complete = true;
    return OK;
}

int aclrtLaunchKernelWithConfig(void* function, uint32_t blocks, void* stream, void*, void* handle, void*)
{
    if (const int code = ready()) {
        return code;
    }
    auto* arguments = static_cast<Arguments*>(handle);
    if (!functions.count(function) || !handles.count(handle) || !streams.count(stream) || !arguments->complete
        || arguments->function != function || blocks == 0 || blocks > 65535) {
        return fail(INVALID, "stand-in: a launch that is not prepared");
    }
    fault = run(*arguments->function, static_cast<int>(blocks), *arguments);
    handles.erase(handle);
    delete arguments;
    return OK;
}

int aclrtSynchronizeStream(void* stream)
{
    if (!streams.count(stream)) {
        return fail(BAD_HANDLE, "stand-in: not a stream");
    }
    const int code = fault;
    fault = OK;
    return code;
}
}
