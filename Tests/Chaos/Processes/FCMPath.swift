import FoundationEssentials
import TestSupport

/// The connection from one relay to FCM: a name to resolve, and a proxy that can break.
struct FCMPath: Sendable {
    private let proxy: TCPProxy
    /// While this file exists, the relay's resolver does not answer.
    private let hangingFile: String

    /// - Parameter hangingFile: One for each relay.
    init(proxy: TCPProxy, hangingFile: String) {
        self.proxy = proxy
        self.hangingFile = hangingFile
    }

    /// The relay's settings.
    var settings: [String: String] {
        ["MSI_FCM_ENDPOINT": "https://localhost:\(proxy.port)", "CHAOS_RESOLVER_HANGS_WHILE": hangingFile]
    }

    func silenceConnections() {
        proxy.silenceConnections()
    }

    func cut() {
        proxy.refuse()
    }

    func mend() {
        proxy.accept()
    }

    func hangResolver() throws {
        try Data().write(to: URL(filePath: hangingFile))
        proxy.closeConnections()
    }

    func mendResolver() throws {
        try FileManager.default.removeItem(atPath: hangingFile)
    }

    /// A resolver that waits while a file exists, at most a minute. C source for ``PreloadedLibrary``.
    static let resolver = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <stdlib.h>
        #include <unistd.h>

        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
            const char *file = getenv("CHAOS_RESOLVER_HANGS_WHILE");
            for (int turns = 0; file != NULL && access(file, F_OK) == 0 && turns < 600; turns++) usleep(100000);
            return real(name, service, hints, result);
        }
        """
}
