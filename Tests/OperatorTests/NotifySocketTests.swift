import Glibc
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Operator

/// Which process may report that a child is ready.
@Suite("Notify socket")
struct NotifySocketTests {
    @Test("Only notifications of the child itself count, including those from before the first read")
    func senders() async throws {
        let count = Atomic(0)
        let ofAnother = try NotifySocket(for: "test")
        defer { ofAnother.close() }
        #expect(send("READY=1", to: ofAnother.name))
        // Process 1 has not sent it.
        try ofAnother.listen(to: 1) { count.add(100, ordering: .relaxed) }
        #expect(send("READY=1", to: ofAnother.name))

        let own = try NotifySocket(for: "test")
        #expect(send("STATUS=READY=1\nREADY=10", to: own.name))
        #expect(send("READY=1", to: own.name))
        try own.listen(to: getpid()) { count.add(1, ordering: .relaxed) }
        try await eventually { count.load(ordering: .relaxed) == 1 }
        #expect(send("STATUS=fine\nREADY=1\n", to: own.name))
        try await eventually { count.load(ordering: .relaxed) == 2 }
        own.close()
        // Its thread closes the socket, and may receive something until then.
        try await eventually { !send("STATUS=fine", to: own.name) }
        #expect(count.load(ordering: .relaxed) == 2)
    }

    @Test("An unused notify socket leaves no descriptor behind")
    func unused() async throws {
        let socket = try NotifySocket(for: "test")
        socket.close()
        #expect(!send("READY=1", to: socket.name))
    }

    private func send(_ text: String, to name: String) -> Bool {
        guard var address = sockaddr_un(path: name) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL), $0, length) == text.utf8.count
            }
        }
    }
}
