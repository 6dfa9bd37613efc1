// SPDX-License-Identifier: MIT OR GPL-2.0-only
// What unwinds while it is walked: destructors on the way of an exception, and what ends it.
#include "shape.h"

#include <algorithm>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {

struct cleaned {
    __attribute__((always_inline)) ~cleaned();
};
APART void leaf_cxx(void)
{
    TELL();
    MARK();
    UNTELL();
}
APART void cleans(void)
{
    TELL();
    MARK();
    leaf_cxx();
    UNTELL();
}

/*
 * A destructor's caller is a landing pad: the function is where it was, but those that it called
 * are gone.
 */
static uint64_t here;
inline cleaned::~cleaned()
{
    shape.count = here;
    cleans();
}
APART void throws(int depth)
{
    TELL();
    MARK();
    if (depth)
        throw std::runtime_error(std::string(100, 'a'));
    UNTELL();
}
APART void passes(int depth)
{
    TELL();
    here = shape.count;
    cleaned one;
    throws(depth);
    UNTELL();
}
APART void exceptions(void)
{
    TELL();
    const uint64_t before = shape.count;
    for (int i = 0; i < 2; i++)
        try {
            passes(shape_one);
        } catch (const std::exception &error) {
            shape.count = before;
            MARK();
            leaf_cxx();
        }
    UNTELL();
}

APART void rethrows(void)
{
    TELL();
    const uint64_t before = shape.count;
    try {
        throws(shape_one);
    } catch (...) {
        shape.count = before;
        leaf_cxx();
        throw;
    }
    UNTELL();
}
APART void rethrown(void)
{
    TELL();
    const uint64_t before = shape.count;
    try {
        rethrows();
    } catch (...) {
        shape.count = before;
        leaf_cxx();
    }
    UNTELL();
}

APART void on_terminate(void)
{
#ifdef __clang__ /* Its function that calls terminate() has no table. */
    tell_anew();
    shape.end = SHAPE_BEGINS;
#endif
    tell(ANY, NULL);
    TELL();
    MARK();
    std::_Exit(0);
}
/* Nothing catches it: the stack is as it was. */
APART void terminates(void)
{
    TELL();
    std::set_terminate(on_terminate);
    try {
        throw 5;
    } catch (const std::exception &) {
    }
}
APART void terminated(void) noexcept
{
    TELL();
    terminates();
    UNTELL();
}

APART void library_cxx(void)
{
    TELL();
    std::vector<int> numbers;
    std::map<std::string, int> names;
    for (int i = 0; i < 20; i++) {
        numbers.push_back(i * 7 % 20);
        names[std::to_string(i)] = i;
    }
    std::stable_sort(numbers.begin(), numbers.end(), [](int a, int b) { return a < b; });
    leaf_cxx();
    UNTELL();
}
}

extern "C" {
extern const struct shape_row cxx_shapes[];
const struct shape_row cxx_shapes[] = {
    {"exceptions", exceptions},
    {"rethrown", rethrown},
    {"terminated", terminated},
    {"library_cxx", library_cxx},
    {nullptr, nullptr},
};
}
