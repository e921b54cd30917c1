// The writes of the message store by SQLite's own C API: one row, one entry of the full-text index and one commit for each
// message, synced to disk, on a connection that the clients share like those of the store. It fails if SQLite does not sync.
//
//     raw_sqlite FILE CLIENTS SECONDS
//
// FILE is an archive that the store has created. Prints the number of messages and the duration in seconds.
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;
static sqlite3_stmt *known, *last, *row, *text;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double deadline;
static long written;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void check(int code, int expected) {
    if (code != expected) {
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(database));
        exit(1);
    }
}

static void execute(const char *sql) {
    check(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    return statement;
}

static void insert(long number) {
    char key[25];
    long position = (1700000000000L + number) << 15;
    snprintf(key, sizeof key, "%024lx", number);
    execute("BEGIN IMMEDIATE");
    // The store searches for an earlier message with the same key, and for the last position of the millisecond.
    sqlite3_bind_text(known, 1, key, -1, SQLITE_STATIC);
    check(sqlite3_step(known), SQLITE_DONE);
    sqlite3_reset(known);
    sqlite3_bind_int64(last, 1, position);
    sqlite3_bind_int64(last, 2, position + 32768);
    check(sqlite3_step(last), SQLITE_ROW);
    sqlite3_reset(last);
    sqlite3_bind_int64(row, 1, position);
    sqlite3_bind_text(row, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(row, 3, 1700000000000L + number);
    check(sqlite3_step(row), SQLITE_DONE);
    sqlite3_reset(row);
    sqlite3_bind_int64(text, 1, position);
    check(sqlite3_step(text), SQLITE_DONE);
    sqlite3_reset(text);
    execute("COMMIT");
}

static void *client(void *unused) {
    (void)unused;
    do {
        pthread_mutex_lock(&lock);
        insert(++written);
        pthread_mutex_unlock(&lock);
    } while (now() < deadline);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int clients = atoi(argv[2]);
    check(sqlite3_open(argv[1], &database), SQLITE_OK);
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = FULL");
    sqlite3_stmt *synchronous = prepare("PRAGMA synchronous");
    check(sqlite3_step(synchronous), SQLITE_ROW);
    if (sqlite3_column_int(synchronous, 0) != 2) {
        fprintf(stderr, "sqlite: commits are not synced\n");
        return 1;
    }
    sqlite3_finalize(synchronous);
    known = prepare("SELECT 1 FROM message WHERE msiKey = ?");
    last = prepare("SELECT MAX(position) FROM message WHERE position >= ? AND position < ?");
    row = prepare(
        "INSERT INTO message (position, id, msiKey, title, desc, message, topicKey, distribution, sender, timestamp, names,"
        " expires, state, attempts, nextAttempt, leaseOwner, leaseUntil, components, channel, area, subject)"
        " VALUES (?1, ?2, ?2, 'Campus closed', 'Please stay at home', 'All lectures of today are cancelled because of the storm."
        " The library and the canteen stay closed until tomorrow at noon.',"
        " '656565656565656565656565-666666666666666666666666-676767676767676767676767', 'Alert', 'Communicator', ?3,"
        " '{\"channel\":\"Campus\",\"area\":\"Weather\",\"subject\":\"Storms\"}', ?3 + 2419200000, 'pending', 0, ?3 + 30000,"
        " 'host ipc:///run/msi/message-log.sock', ?3 + 30000,"
        " '[{\"component\":\"notification\",\"state\":\"pending\"},{\"component\":\"data\",\"state\":\"pending\"}]',"
        " '656565656565656565656565', '666666666666666666666666', '676767676767676767676767')");
    text = prepare(
        "INSERT INTO messageText(rowid, words) VALUES (?, 'all and are at because campus cancelled canteen closed home lectures"
        " library noon of please stay storm the today tomorrow until')");
    double start = now();
    deadline = start + atof(argv[3]);
    pthread_t threads[clients];
    for (int index = 0; index < clients; index++) pthread_create(&threads[index], NULL, client, NULL);
    for (int index = 0; index < clients; index++) pthread_join(threads[index], NULL);
    printf("%ld %f\n", written, now() - start);
    return 0;
}
