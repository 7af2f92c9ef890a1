/* A plugin for clang: hooks for accesses that the thread sanitizer of LLVM leaves out.
 *
 * The sanitizer's pass has hooks for accesses of 1, 2, 4, 8 and 16 bytes, for atomics and for memcpy and the
 * like. The plugin's pass runs before it and adds calls of hooks for
 *
 *     loads and stores of other sizes      long double, vectors of 32 bytes, structures of 3 bytes in registers
 *     structures that a call copies        arguments "byval": the copy is made while arguments are passed
 *     masked accesses                      only the lanes that the mask names
 *     inline assembly                      operands in memory, fences; what stays unseen is noted (note_text.h)
 *     assertions                           where it is decided whether one fails; see gcc_assertions.cc
 *
 * The sanitizer's pass of LLVM 14 leaves out an access to a member of a local structure if the address of that member
 * does not escape, even if the address of the structure does. The plugin makes the address of the member escape, too.
 *
 * A plugin fits one version of LLVM: `mazurka cc` passes it only if a trial compilation works. */
#include "compiler/asm_text.h"
#include "compiler/note_text.h"

#include <set>
#include <string>
#include <vector>

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

using namespace llvm;

namespace
{

enum access { READ, WRITE, ATOMIC_BEGIN, ATOMIC_END, ATOMIC, LOAD, STORE_BEGIN, STORE_END };

struct operand { /* an operand of inline assembly that is in memory */
    unsigned number;
    Value *address;
    uint64_t size;
    bool output;
};

class show
{
  public:
    explicit show(Module &m) : module(m), layout(m.getDataLayout()) {}
    bool run();

  private:
    Module &module;
    const DataLayout &layout;
    std::set<std::string> notes;
    std::set<Value *> exposed;
    bool changed = false;

    void note(const Instruction &at, const std::string &what, bool writes);
    void write_notes();
    bool is_private(Value *address);
    void range(IRBuilder<> &b, Value *address, uint64_t size, access kind);
    void around(Instruction *at, Value *address, uint64_t size, access before, access behind);
    void expose(Instruction *at, Value *address);
    void plain(Instruction *at, Value *address, Type *type, access kind);
    void copied_arguments(CallBase *call);
    void masked(IntrinsicInst *call, Value *address, Value *mask, Type *data, access kind);
    void intrinsic(IntrinsicInst *call);
    void target_intrinsic(IntrinsicInst *call, StringRef name);
    void fences(IRBuilder<> &b, const mz_asm_text &t);
    std::vector<struct operand> memory_operands(CallBase *call);
    bool one_mov(CallBase *call, const mz_asm_text &t, const std::vector<struct operand> &places);
    bool is_bit_inside(CallBase *call);
    void operands(CallBase *call, const mz_asm_text &t);
    void assembly(CallBase *call);
    void instruction(Instruction *at);
    void include(Function &f);
};

void show::note(const Instruction &at, const std::string &what, bool writes)
{
    std::string text = module.getSourceFileName();
    if (const DebugLoc &l = at.getDebugLoc()) {
        if (const DIScope *scope = dyn_cast_or_null<DIScope>(l.getScope())) text = scope->getFilename().str();
        text += ":" + std::to_string(l.getLine());
    }
    notes.insert(mz_note_text(text + ": " + what, writes ? MZ_NOTE_WRITES : MZ_NOTE_READS));
}

void show::write_notes()
{
    std::string text = mz_note_text("", MZ_NOTE_PLUGIN);
    for (const std::string &n : notes) text += n;
    module.appendModuleInlineAsm(text);
}

/* Is it a local variable whose address is not known elsewhere, or a constant? */
bool show::is_private(Value *address)
{
    Value *object = getUnderlyingObject(address, 0);
    if (isa<AllocaInst>(object)) return !PointerMayBeCaptured(object, true, true);
    const GlobalVariable *global = dyn_cast<GlobalVariable>(object);
    return global && global->isConstant();
}

void show::range(IRBuilder<> &b, Value *address, uint64_t size, access kind)
{
    static const char *const names[] = {
        "__tsan_read_range", "__tsan_write_range", "__tsan_mz_atomic_begin", "__tsan_mz_atomic_end",
        "__tsan_mz_atomic",  "__tsan_mz_load",     "__tsan_mz_store_begin",  "__tsan_mz_store_end"};
    if (address->getType()->getPointerAddressSpace() != 0) return;
    FunctionCallee hook =
        module.getOrInsertFunction(names[kind], b.getVoidTy(), b.getInt8PtrTy(), b.getInt64Ty());
    b.CreateCall(hook, {b.CreatePointerCast(address, b.getInt8PtrTy()), b.getInt64(size)});
    changed = true;
}

void show::around(Instruction *at, Value *address, uint64_t size, access before_it, access behind_it)
{
    IRBuilder<> before(at), behind(at->getNextNode());
    behind.SetCurrentDebugLocation(at->getDebugLoc());
    range(before, address, size, before_it);
    range(behind, address, size, behind_it);
}

/* Other code knows the address of this local object. If it does not know this address within the object, let it escape: an
 * empty piece of inline assembly has it as an input. */
void show::expose(Instruction *at, Value *address)
{
    if (!isa<AllocaInst>(getUnderlyingObject(address)) || PointerMayBeCaptured(address, true, true) ||
        !exposed.insert(address).second)
        return;
    IRBuilder<> b(at);
    FunctionType *type = FunctionType::get(b.getVoidTy(), {address->getType()}, false);
    b.CreateCall(InlineAsm::get(type, "", "r", true), {address});
    changed = true;
}

void show::plain(Instruction *at, Value *address, Type *type, access kind)
{
    uint64_t size = layout.getTypeStoreSize(type).getFixedSize();
    bool has_hook = layout.getTypeStoreSizeInBits(type).getFixedSize() == 8 * size &&
                    (size == 1 || size == 2 || size == 4 || size == 8 || size == 16);
    if (!size || is_private(address)) return;
    if (has_hook) {
        expose(at, address);
        return;
    }
    IRBuilder<> b(at);
    range(b, address, size, kind);
}

void show::copied_arguments(CallBase *call)
{
    for (unsigned i = 0; i < call->arg_size(); i++) {
        if (!call->isByValArgument(i) || is_private(call->getArgOperand(i))) continue;
        IRBuilder<> b(call);
        range(b, call->getArgOperand(i), layout.getTypeAllocSize(call->getParamByValType(i)).getFixedSize(),
              READ);
    }
}

/* A mask has a bit for each lane; a mask that is a vector of integers has it as the highest bit of each
 * integer. */
void show::masked(IntrinsicInst *call, Value *address, Value *mask, Type *data, access kind)
{
    IRBuilder<> b(call);
    FixedVectorType *lanes = dyn_cast<FixedVectorType>(data);
    FixedVectorType *bits = dyn_cast<FixedVectorType>(mask->getType());
    if (!lanes || !bits) {
        note(*call, "a masked access", true);
        return;
    }
    bool is_bits = bits->getElementType()->isIntegerTy(1);
    if (is_bits) {
        unsigned n = bits->getNumElements();
        mask = b.CreateZExt(b.CreateBitCast(mask, b.getIntNTy(n)), b.getInt64Ty());
    }
    Function *f = call->getFunction();
    IRBuilder<> top(&*f->getEntryBlock().getFirstInsertionPt());
    Value *kept = top.CreateAlloca(mask->getType());
    b.CreateStore(mask, kept);
    FunctionCallee hook =
        module.getOrInsertFunction("__tsan_mz_masked", b.getVoidTy(), b.getInt8PtrTy(), b.getInt8PtrTy(),
                                   b.getInt64Ty(), b.getInt64Ty(), b.getInt32Ty());
    uint64_t size = layout.getTypeStoreSize(lanes->getElementType()).getFixedSize();
    b.CreateCall(hook,
                 {b.CreatePointerCast(address, b.getInt8PtrTy()), b.CreatePointerCast(kept, b.getInt8PtrTy()),
                  b.getInt64(size), b.getInt64(lanes->getNumElements()),
                  b.getInt32((kind == WRITE ? 1u : 0u) | (is_bits ? 2u : 0u))});
    changed = true;
}

/* Intrinsics of x86. A pointer that is only read has an attribute that says so. */
void show::target_intrinsic(IntrinsicInst *call, StringRef name)
{
    if (name.contains("maskstore")) {
        masked(call, call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)->getType(),
               WRITE);
        return;
    }
    if (name.contains("maskload")) {
        masked(call, call->getArgOperand(0), call->getArgOperand(1), call->getType(), READ);
        return;
    }
    if (name.contains("maskmov")) {
        masked(call, call->getArgOperand(2), call->getArgOperand(1), call->getArgOperand(0)->getType(),
               WRITE);
        return;
    }
    if (name.contains("clflush") || name.contains("clwb") || name.contains("monitor") ||
        name.contains("mxcsr"))
        return;
    for (Value *argument : call->args())
        if (argument->getType()->isPointerTy() && !is_private(argument))
            note(*call, name.str() + " accesses memory", true);
}

void show::intrinsic(IntrinsicInst *call)
{
    StringRef name = call->getCalledFunction()->getName();
    if (name.startswith("llvm.masked.store."))
        masked(call, call->getArgOperand(1), call->getArgOperand(3), call->getArgOperand(0)->getType(),
               WRITE);
    else if (name.startswith("llvm.masked.load."))
        masked(call, call->getArgOperand(0), call->getArgOperand(2), call->getType(), READ);
    else if (name.startswith("llvm.masked."))
        note(*call, name.str() + " accesses memory", true);
    else if (name.startswith("llvm.x86.") && !call->doesNotAccessMemory())
        target_intrinsic(call, name);
}

/* ---- inline assembly ---- */

void show::fences(IRBuilder<> &b, const mz_asm_text &t)
{
    int order = t.full_fence                    ? 5
                : t.load_fence && t.store_fence ? 4
                : t.load_fence                  ? 2
                : t.store_fence                 ? 3
                                                : -1;
    if (order < 0) return;
    FunctionCallee hook =
        module.getOrInsertFunction("__tsan_atomic_thread_fence", b.getVoidTy(), b.getInt32Ty());
    b.CreateCall(hook, {b.getInt32((uint32_t)order)});
    changed = true;
}

/* Returns the operands in memory: pointer arguments whose constraint has a '*'. */
std::vector<operand> show::memory_operands(CallBase *call)
{
    std::vector<operand> places;
    unsigned next = 0, number = 0;
    for (const auto &c : cast<InlineAsm>(call->getCalledOperand())->ParseConstraints()) {
        unsigned own = number++;
        bool output = c.Type == InlineAsm::isOutput;
        if (c.Type == InlineAsm::isClobber || (output && !c.isIndirect)) continue;
        Value *address = call->getArgOperand(next);
        Type *type = call->getAttributes().getParamElementType(next++);
        if (!c.isIndirect || !type || is_private(address)) continue;
        places.push_back({own, address, layout.getTypeStoreSize(type).getFixedSize(), output});
    }
    return places;
}

/* A volatile mov from or to a place in memory, and nothing else: an atomic load or store. */
bool show::one_mov(CallBase *call, const mz_asm_text &t, const std::vector<operand> &places)
{
    if (!t.one_mov || places.size() != 1 || !isa<CallInst>(call)) return false;
    if (!cast<InlineAsm>(call->getCalledOperand())->hasSideEffects()) return false;
    const operand &o = places[0];
    if (o.size > 8 || (o.size & (o.size - 1))) return false;
    IRBuilder<> b(call);
    if (o.output || mz_asm_writes(&t, o.number))
        around(call, o.address, o.size, STORE_BEGIN, STORE_END);
    else
        range(b, o.address, o.size, LOAD);
    return true;
}

/* asm goto ends its basic block: no hook can follow it there. */
void show::operands(CallBase *call, const mz_asm_text &t)
{
    std::vector<operand> places = memory_operands(call);
    if (one_mov(call, t, places)) return;
    for (const operand &o : places) {
        bool written = o.output || mz_asm_writes(&t, o.number);
        IRBuilder<> b(call);
        if (!t.locked && !o.output) range(b, o.address, o.size, READ);
        if (written && t.locked && isa<CallInst>(call))
            around(call, o.address, o.size, ATOMIC_BEGIN, ATOMIC_END);
        else if (written)
            range(b, o.address, o.size, t.locked ? ATOMIC : WRITE);
    }
}

/* Is the number of the bit a constant, and a bit of each operand in memory? */
bool show::is_bit_inside(CallBase *call)
{
    uint64_t smallest = UINT64_MAX;
    for (const operand &o : memory_operands(call)) smallest = std::min(smallest, 8 * o.size);
    for (Value *argument : call->args()) {
        if (argument->getType()->isPointerTy()) continue;
        const ConstantInt *c = dyn_cast<ConstantInt>(argument);
        if (!c || c->getBitWidth() > 64 || c->getZExtValue() >= smallest) return false;
    }
    return true;
}

/* Translates a template to gcc's form: $0 becomes %0, ${0:k} %k0, $$ $, % %%, and $( $| $) become { | }. */
std::string as_gcc(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        char next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (text[i] == '%') {
            out += "%%";
        } else if (text[i] == '{' || text[i] == '|' || text[i] == '}') {
            out += std::string("%") + text[i];
        } else if (text[i] != '$') {
            out += text[i];
        } else if (next == '{') {
            size_t end = text.find('}', i), colon = text.find(':', i);
            if (end == std::string::npos) return out;
            size_t digits = std::min(end, colon);
            out += "%" + (colon < end ? text.substr(colon + 1, end - colon - 1) : "") +
                   text.substr(i + 2, digits - i - 2);
            i = end;
        } else if (next == '$' || next == '|') {
            out += next;
            i++;
        } else if (next == '(' || next == ')') {
            out += next == '(' ? '{' : '}';
            i++;
        } else {
            out += '%';
        }
    }
    return out;
}

void show::assembly(CallBase *call)
{
    const InlineAsm *a = cast<InlineAsm>(call->getCalledOperand());
    mz_asm_text t = mz_asm_text_read(as_gcc(a->getAsmString()).c_str());
    IRBuilder<> b(call);
    if (call->getFunction()->hasFnAttribute(Attribute::Naked)) { /* a hook cannot be called there */
        note(*call, "assembly of a naked function", true);
        return;
    }
    fences(b, t);
    if (!t.locked && !t.writes_operands && !t.writes_elsewhere && !t.reads_elsewhere && !t.reads_operands)
        return;
    operands(call, t);
    if (t.any_bit && !is_bit_inside(call))
        note(*call, "inline assembly changes a bit, perhaps beyond its operand", true);
    if (t.writes_elsewhere)
        note(*call, t.locked ? "inline assembly changes memory atomically" : "inline assembly writes memory",
             true);
    else if (t.reads_elsewhere)
        note(*call, "inline assembly reads memory", false);
}

void show::instruction(Instruction *at)
{
    if (LoadInst *load = dyn_cast<LoadInst>(at)) {
        if (!load->isAtomic()) plain(at, load->getPointerOperand(), load->getType(), READ);
    } else if (StoreInst *store = dyn_cast<StoreInst>(at)) {
        if (!store->isAtomic())
            plain(at, store->getPointerOperand(), store->getValueOperand()->getType(), WRITE);
    } else if (IntrinsicInst *known = dyn_cast<IntrinsicInst>(at)) {
        intrinsic(known);
    } else if (CallBase *call = dyn_cast<CallBase>(at)) {
        if (call->isInlineAsm())
            assembly(call);
        else
            copied_arguments(call);
    }
}

/* Functions with no_sanitize_thread, in any spelling, are checked like others. */
void show::include(Function &f)
{
    bool disabled = f.hasFnAttribute(Attribute::DisableSanitizerInstrumentation);
    if ((f.hasFnAttribute(Attribute::SanitizeThread) && !disabled) || f.hasFnAttribute(Attribute::Naked))
        return;
    f.removeFnAttr(Attribute::DisableSanitizerInstrumentation);
    f.addFnAttr(Attribute::SanitizeThread);
    changed = true;
}

bool show::run()
{
    for (Function &f : module) {
        if (f.isDeclaration()) continue;
        include(f);
        SmallVector<Instruction *, 64> all;
        for (Instruction &i : instructions(f)) all.push_back(&i);
        for (Instruction *i : all) instruction(i);
    }
    bool writes;
    const char *outside = mz_asm_outside(module.getModuleInlineAsm().c_str(), &writes);
    if (outside)
        notes.insert(mz_note_text(module.getSourceFileName() + ": " + outside,
                                  writes ? MZ_NOTE_WRITES : MZ_NOTE_READS));
    write_notes();
    return changed;
}

struct show_pass : PassInfoMixin<show_pass> {
    PreservedAnalyses run(Module &m, ModuleAnalysisManager &)
    {
        return show(m).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; } /* at -O0, too */
};

/* ---- assertions ---- */

/* The blocks that decide whether this one runs. Returns false if they are not known. */
bool deciders(BasicBlock *block, std::set<BasicBlock *> &found, int depth)
{
    if (block->isEntryBlock() || depth > 8) return false;
    for (BasicBlock *from : predecessors(block)) {
        Instruction *end = from->getTerminator();
        if (end->getNumSuccessors() > 1)
            found.insert(from);
        else if (from->getFirstNonPHIOrDbg() != end || !deciders(from, found, depth + 1))
            return false;
    }
    return true;
}

/* Inserts the hooks of an assertion. Returns its note; empty: there are none. */
std::string mark(Module &m, CallBase *call)
{
    Function *function = call->getCalledFunction();
    if (!function || function->getName() != "__assert_fail" || call->arg_size() != 4) return "";
    StringRef expression, file;
    ConstantInt *line = dyn_cast<ConstantInt>(call->getArgOperand(2));
    std::set<BasicBlock *> blocks;
    if (!line || !getConstantStringInfo(call->getArgOperand(0), expression) ||
        !getConstantStringInfo(call->getArgOperand(1), file) || !deciders(call->getParent(), blocks, 0) ||
        blocks.empty())
        return "";
    for (BasicBlock *block : blocks) {
        IRBuilder<> b(block->getTerminator());
        FunctionCallee hook =
            m.getOrInsertFunction("__tsan_mz_assertion", b.getVoidTy(), b.getInt8PtrTy(), b.getInt32Ty());
        b.CreateCall(hook, {b.CreatePointerCast(call->getArgOperand(1), b.getInt8PtrTy()), line})
            ->setDoesNotThrow();
    }
    return mz_note_text(file.str() + ":" + std::to_string(line->getZExtValue()) + ": " + expression.str(),
                        MZ_NOTE_ASSERTION);
}

/* Before all optimizations: a hook stays where an assertion has been proved, or is decided in several places. */
struct assertions_pass : PassInfoMixin<assertions_pass> {
    PreservedAnalyses run(Module &m, ModuleAnalysisManager &)
    {
        std::set<std::string> notes;
        for (Function &f : m) {
            SmallVector<CallBase *, 16> calls;
            for (Instruction &i : instructions(f))
                if (CallBase *call = dyn_cast<CallBase>(&i)) calls.push_back(call);
            for (CallBase *call : calls) notes.insert(mark(m, call));
        }
        std::string text;
        for (const std::string &n : notes) text += n;
        if (!text.empty()) m.appendModuleInlineAsm(text);
        return text.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

void add_to(PassBuilder &builder)
{
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(assertions_pass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(show_pass()); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "mazurka", LLVM_VERSION_STRING, add_to};
}
