// Encrypts pushes (RFC 8291, aes128gcm) with OpenSSL's libcrypto alone, on one thread: a new key pair of P-256 for each message,
// ECDH with the browser's key, HKDF with SHA-256, and AES-128-GCM.
//
//     raw_webpush KEYS_FILE TEXT_FILE MESSAGES BODY_FILE
//
// KEYS_FILE has a line for each browser: its public key (an uncompressed point) and its authentication secret, both in
// hexadecimal. They are used in turn. It prints the number of messages and the duration in seconds. BODY_FILE gets the last body,
// so that it can be checked.
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINT = 65, AUTH = 16, SALT = 16, HASH = 32, HEADER = SALT + 4 + 1 + POINT, TAG = 16, RECORD = 4096 };

struct browser {
    EVP_PKEY *key;
    unsigned char point[POINT], auth[AUTH];
};

static EVP_MAC_CTX *mac;
static EVP_CIPHER *cipher;
static EVP_CIPHER_CTX *sealing;
static EVP_PKEY_CTX *generator;

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "raw_webpush: %s: %s\n", what, detail);
    exit(1);
}

static void expect(int result, const char *what) {
    if (result != 1) fail(what, "failed");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void from_hex(unsigned char *bytes, size_t count, const char *text) {
    size_t length = 0;
    if (!OPENSSL_hexstr2buf_ex(bytes, count, &length, text, '\0') || length != count) fail("wrong length", text);
}

static void read_browser(struct browser *browser, char *line) {
    char *point = strsep(&line, " "), *auth = strsep(&line, " \n");
    if (!auth) fail("wrong line", point);
    from_hex(browser->point, POINT, point);
    from_hex(browser->auth, AUTH, auth);
    char group[] = "P-256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, browser->point, POINT),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    expect(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init");
    expect(EVP_PKEY_fromdata(context, &browser->key, EVP_PKEY_PUBLIC_KEY, parameters), "EVP_PKEY_fromdata");
    EVP_PKEY_CTX_free(context);
}

// HMAC-SHA-256, which is also each step of HKDF for at most 32 bytes.
static void hmac(
    unsigned char output[HASH], const unsigned char *key, size_t key_length, const void *data, size_t length) {
    expect(EVP_MAC_init(mac, key, key_length, NULL), "EVP_MAC_init");
    expect(EVP_MAC_update(mac, data, length), "EVP_MAC_update");
    expect(EVP_MAC_final(mac, output, NULL, HASH), "EVP_MAC_final");
}

// Returns the body's length.
static size_t encrypt(unsigned char *body, struct browser *browser, const unsigned char *record, size_t length) {
    EVP_PKEY *sender = NULL;
    expect(EVP_PKEY_generate(generator, &sender), "EVP_PKEY_generate");
    unsigned char *sender_point;
    if (EVP_PKEY_get1_encoded_public_key(sender, &sender_point) != POINT) fail("a point", "is not uncompressed");

    unsigned char secret[HASH];
    size_t secret_length = sizeof secret;
    EVP_PKEY_CTX *agreement = EVP_PKEY_CTX_new_from_pkey(NULL, sender, NULL);
    expect(EVP_PKEY_derive_init(agreement), "EVP_PKEY_derive_init");
    // The key was checked when it was read.
    expect(EVP_PKEY_derive_set_peer_ex(agreement, browser->key, 0), "EVP_PKEY_derive_set_peer_ex");
    expect(EVP_PKEY_derive(agreement, secret, &secret_length), "EVP_PKEY_derive");
    EVP_PKEY_CTX_free(agreement);

    expect(RAND_bytes(body, SALT), "RAND_bytes");
    body[SALT] = body[SALT + 1] = 0;
    body[SALT + 2] = RECORD >> 8;
    body[SALT + 3] = RECORD & 0xff;
    body[SALT + 4] = POINT;
    memcpy(body + SALT + 5, sender_point, POINT);

    // RFC 8291, section 3.4; each text ends with its zero byte and the counter of HKDF.
    unsigned char extracted[HASH], input[HASH], pseudo_random[HASH], key[HASH], nonce[HASH];
    unsigned char info[14 + 2 * POINT + 1];
    memcpy(info, "WebPush: info", 14);
    memcpy(info + 14, browser->point, POINT);
    memcpy(info + 14 + POINT, sender_point, POINT);
    info[sizeof info - 1] = 1;
    hmac(extracted, browser->auth, AUTH, secret, secret_length);
    hmac(input, extracted, HASH, info, sizeof info);
    hmac(pseudo_random, body, SALT, input, HASH);
    static const char key_info[] = "Content-Encoding: aes128gcm\0\1", nonce_info[] = "Content-Encoding: nonce\0\1";
    hmac(key, pseudo_random, HASH, key_info, sizeof key_info - 1);
    hmac(nonce, pseudo_random, HASH, nonce_info, sizeof nonce_info - 1);

    int written, rest;
    expect(EVP_EncryptInit_ex2(sealing, cipher, key, nonce, NULL), "EVP_EncryptInit_ex2");
    expect(EVP_EncryptUpdate(sealing, body + HEADER, &written, record, length), "EVP_EncryptUpdate");
    expect(EVP_EncryptFinal_ex(sealing, body + HEADER + written, &rest), "EVP_EncryptFinal_ex");
    expect(EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, TAG, body + HEADER + written), "the tag");
    OPENSSL_free(sender_point);
    EVP_PKEY_free(sender);
    return HEADER + written + TAG;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    FILE *file = fopen(argv[1], "r");
    if (!file) fail(argv[1], strerror(errno));
    struct browser *browsers = NULL;
    long browser_count = 0, messages = atol(argv[3]);
    for (char line[256]; fgets(line, sizeof line, file);) {
        browsers = realloc(browsers, (browser_count + 1) * sizeof *browsers);
        if (!browsers) fail("memory", strerror(errno));
        memset(&browsers[browser_count], 0, sizeof *browsers);
        read_browser(&browsers[browser_count++], line);
    }
    fclose(file);
    if (!browser_count) fail(argv[1], "has no browser");

    static unsigned char record[RECORD], body[RECORD];
    file = fopen(argv[2], "rb");
    if (!file) fail(argv[2], strerror(errno));
    size_t length = fread(record, 1, RECORD - HEADER - TAG, file);
    fclose(file);
    if (length > RECORD - HEADER - TAG - 1) fail(argv[2], "is too long");
    // The delimiter of the last record.
    record[length++] = 2;

    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, "HMAC", NULL);
    mac = EVP_MAC_CTX_new(algorithm);
    expect(EVP_MAC_CTX_set_params(mac, parameters), "EVP_MAC_CTX_set_params");
    cipher = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
    sealing = EVP_CIPHER_CTX_new();
    if (!cipher || !sealing) fail("AES-128-GCM", "is missing");
    generator = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    expect(EVP_PKEY_keygen_init(generator), "EVP_PKEY_keygen_init");
    expect(EVP_PKEY_CTX_set_group_name(generator, "P-256"), "EVP_PKEY_CTX_set_group_name");

    size_t body_length = 0;
    double begin = now();
    for (long number = 0; number < messages; number++) {
        body_length = encrypt(body, &browsers[number % browser_count], record, length);
    }
    printf("%ld %f\n", messages, now() - begin);

    file = fopen(argv[4], "wb");
    if (!file || fwrite(body, 1, body_length, file) != body_length || fclose(file)) fail(argv[4], strerror(errno));
    return 0;
}
