// To write a bot for the Arena, derive from arena::Bot and call arena::run. README.md is the introduction.
#pragma once

#include "arena_client/bot.h"
#include "arena_client/decision.h"
#include "arena_client/errors.h"
#include "arena_client/log.h"
#include "arena_client/nullern.h"
#include "arena_client/options.h"
#include "arena_client/running.h"
#include "arena_client/sixth_sense.h"
