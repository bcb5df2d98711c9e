// A release has no use for DuckDB's extension "autocomplete": its parser completes what is
// typed into DuckDB's shell. DuckDB loads all extensions that are linked, so this is linked in
// its place, as one that has nothing to load. The linker gives these names to whoever asks for
// those without "__wrap_" (packaging/build).

#include <cstdlib>
#include <string>

void load(void *extension, void *loader) __asm__("__wrap__ZN6duckdb21AutocompleteExtension4LoadERNS_15ExtensionLoaderE");
std::string name(void *extension) __asm__("__wrap__ZN6duckdb21AutocompleteExtension4NameB5cxx11Ev");
std::string version(const void *extension) __asm__("__wrap__ZNK6duckdb21AutocompleteExtension7VersionB5cxx11Ev");

void load(void *, void *) {}
std::string name(void *) { return "autocomplete"; }
std::string version(const void *) { return ""; }

// DuckDB calls the three by their names. It makes an object, and so wants a table of virtual
// functions; through it nothing is called.
extern "C" {
extern void (*const virtual_functions[8])() __asm__("__wrap__ZTVN6duckdb21AutocompleteExtensionE");
void (*const virtual_functions[8])() = {nullptr, nullptr, std::abort, std::abort, std::abort, std::abort, std::abort, std::abort};
}
