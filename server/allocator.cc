// How jemalloc, which the server's program is linked with, treats memory that was freed: a thread
// of its own gives it back to the system after a second, so that what a bulk load or a merge took
// doesn't stay. Without jemalloc nobody reads this.
//
// Its name is jemalloc's (man jemalloc, TUNING).
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
}
