/* The headers of gcc that every part of the plugin needs, in the order that gcc requires. */
#ifndef MZ_COMPILER_GCC_INCLUDES_H
#define MZ_COMPILER_GCC_INCLUDES_H

#include "gcc-plugin.h"
#include "context.h"
#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "ssa.h"
#include "cgraph.h"
#include "gimple-iterator.h"
#include "gimplify.h"
#include "gimplify-me.h"
#include "memmodel.h"
#include "internal-fn.h"
#include "gimple-pretty-print.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "stringpool.h"
#include "attribs.h"
#include "asan.h"
#include "output.h"
#include "langhooks.h"

#endif
