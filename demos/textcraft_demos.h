// Rows of demonstrations in TextCraft: whole episodes, played on the game itself.
//
// Most are of recipe books whose names and recipes are varied (varied_book.h), the others of the
// built-in book. A goal that a test task of the built-in book has, by whatever name a varied book
// calls it, is never played. A scene is a list of commands; its rows are episodes for several goals
// of that list and a question about its commands, so that all of them begin alike and training
// computes the beginning once. In some turns a mistake is made: it is not trained, what follows it
// is. It is a slip, that is another action behind a right thought, or it comes from a wrong belief
// of what is held, or from a misread command, which the agent follows until the game refuses an
// action. Of some episodes one step is judged, as the verifier "actor" asks
// (configs/verifier), by what is known of it: a step of the teacher is good, a mistake that was
// refused or made what nobody needs is bad, and of a look at the inventory nothing can be told.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/demo_row.h"
#include "games/textcraft/recipe_book.h"

namespace agentr {

struct TextCraftDemoOptions {
  int scenes = 20;              // of a book
  double slips = 0.06;          // share of turns in which a mistake is made
  bool train_slips = false;     // the mistakes themselves are trained as well
  bool look = false;            // a refused turn is followed by a look at what is held
  bool show_inventory = false;  // as env_server --show_inventory
  double misreadings = 0;       // share of the mistakes that come from a misread command
  double beliefs = 0;        // share of the mistakes that come from a wrong belief of what is held
  double built_in = 0.15;    // share of the books that are the built-in one as it is
  int goals = 5;             // most episodes of a scene
  int questions = 5;         // most commands that a scene's question asks for; 0: none
  double judgements = 0.25;  // share of the episodes of which one step is judged
  int max_turns = 16;        // longer episodes are left out
  int max_commands = 24;     // longer lists are left out
};

// The recipes of a varied book that is none of TextCraftDemos' with the same seed: a pure function
// of the arguments. Hardly an item has a name of the built-in book.
std::vector<SourceRecipe> HeldOutRecipes(uint64_t seed, int number);

// The rows of book number `book`, whose "task" names the scene: a pure function of the arguments.
// Thread-safe.
std::vector<DemoRow> TextCraftDemos(const TextCraftDemoOptions& options, uint64_t seed, int book);

}  // namespace agentr
