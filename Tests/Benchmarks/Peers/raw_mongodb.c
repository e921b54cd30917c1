// The writes of the message store by libmongoc: one insertion for each message, acknowledged by the majority with the journal
// synced. Each client has its own thread and connection.
//
//     raw_mongodb CLIENTS SECONDS        the connection string is in MSI_DATABASE_URL
//
// Writes into the collection `message`, in which the store has created its indexes. Prints the number of messages and the
// duration in seconds.
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static mongoc_client_pool_t *pool;
static const char *database;
static double deadline;
static atomic_long written;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void add_words(bson_t *document) {
    static const char *words[] = {
        "all", "and", "are", "at", "because", "campus", "cancelled", "canteen", "closed", "home", "lectures", "library",
        "noon", "of", "please", "stay", "storm", "the", "today", "tomorrow", "until"};
    bson_t array;
    BSON_APPEND_ARRAY_BEGIN(document, "words", &array);
    for (int index = 0; index < 21; index++) {
        char key[8];
        snprintf(key, sizeof key, "%d", index);
        BSON_APPEND_UTF8(&array, key, words[index]);
    }
    bson_append_array_end(document, &array);
}

static bson_t *message(long number) {
    long timestamp = 1700000000000L + number;
    bson_oid_t id, msi_key;
    bson_oid_init(&id, NULL);
    bson_oid_init(&msi_key, NULL);
    bson_t *document = BCON_NEW(
        "_id", BCON_OID(&id), "msi_key", BCON_OID(&msi_key), "title", "Campus closed", "desc", "Please stay at home",
        "message",
        "All lectures of today are cancelled because of the storm. The library and the canteen stay closed until tomorrow at noon.",
        "topic_key", "656565656565656565656565-666666666666666666666666-676767676767676767676767", "distribution", "Alert",
        "sender", "Communicator", "timestamp", BCON_INT64(timestamp), "names", "{", "channel", "Campus", "area", "Weather",
        "subject", "Storms", "}", "expires", BCON_INT64(timestamp + 2419200000L), "relay", "{", "state", "pending", "attempts",
        BCON_INT32(0), "next_attempt", BCON_INT64(timestamp + 30000), "lease", "{", "owner",
        "host ipc:///run/msi/message-log.sock", "until", BCON_INT64(timestamp + 30000), "}", "components", "[", "{",
        "component", "notification", "state", "pending", "}", "{", "component", "data", "state", "pending", "}", "]", "}");
    add_words(document);
    return document;
}

static void *client(void *unused) {
    (void)unused;
    mongoc_client_t *connection = mongoc_client_pool_pop(pool);
    mongoc_collection_t *collection = mongoc_client_get_collection(connection, database, "message");
    mongoc_write_concern_t *concern = mongoc_write_concern_new();
    mongoc_write_concern_set_wmajority(concern, -1);
    mongoc_write_concern_set_journal(concern, true);
    mongoc_collection_set_write_concern(collection, concern);
    do {
        bson_t *document = message(atomic_fetch_add(&written, 1));
        bson_error_t error;
        if (!mongoc_collection_insert_one(collection, document, NULL, NULL, &error)) {
            fprintf(stderr, "mongodb: %s\n", error.message);
            exit(1);
        }
        bson_destroy(document);
    } while (now() < deadline);
    mongoc_write_concern_destroy(concern);
    mongoc_collection_destroy(collection);
    mongoc_client_pool_push(pool, connection);
    return NULL;
}

int main(int argc, char **argv) {
    const char *url = getenv("MSI_DATABASE_URL");
    if (argc != 3 || !url) return 2;
    int clients = atoi(argv[1]);
    mongoc_init();
    mongoc_uri_t *uri = mongoc_uri_new(url);
    if (!uri) return 2;
    database = mongoc_uri_get_database(uri) ? mongoc_uri_get_database(uri) : "msi";
    pool = mongoc_client_pool_new(uri);
    mongoc_client_pool_max_size(pool, clients);
    double start = now();
    deadline = start + atof(argv[2]);
    pthread_t threads[clients];
    for (int index = 0; index < clients; index++) pthread_create(&threads[index], NULL, client, NULL);
    for (int index = 0; index < clients; index++) pthread_join(threads[index], NULL);
    printf("%ld %f\n", (long)written, now() - start);
    mongoc_client_pool_destroy(pool);
    mongoc_uri_destroy(uri);
    mongoc_cleanup();
    return 0;
}
