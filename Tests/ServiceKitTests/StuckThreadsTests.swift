import Base
import Foundation
import Glibc
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// The answers about a process whose threads are all stuck. Each test needs its own process. While that runs, Swift Testing blocks
/// a shared thread of this process, of which there may be only two.
@Suite("Stuck threads", .serialized, .timeLimit(.minutes(10)))
struct StuckThreadsTests {
    @Test("While all of Swift's shared threads are blocked, /livez and /metrics answer, and say so")
    func sharedThreads() async {
        await #expect(processExitsWith: .success) {
            let port = try FreePort.choose()
            let server = MetricsServer(
                service: "cube", port: port, registry: MetricRegistry(), readiness: MetricsServer.Readiness(),
                plan: ServicePlan(services: [], close: {}),
                check: try SelfCheckRun(SelfCheck { [.sharedThreads] }, timeout: .seconds(1)), logger: quietLogger)
            Task { try await server.run() }
            try await eventually { get("livez", at: port)?.hasPrefix("HTTP/1.1 200 ") == true }
            // libdispatch starts at most 255 threads for blocked ones.
            for _ in 0..<600 { Task { sleep(60) } }
            // This task may continue on none of the shared threads.
            Thread.detachNewThread {
                let state = get("livez", at: port) ?? ""
                let metrics = get("metrics", at: port) ?? ""
                let isNamed = state.hasPrefix("HTTP/1.1 503 ") && state.contains(#""shared_threads":{"message":"no answer for "#)
                exit(isNamed && metrics.hasPrefix("HTTP/1.1 200 ") ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            sleep(50)
            exit(EXIT_FAILURE)
        }
    }

    @Test("While the thread of the periodic work is blocked, the check names it")
    func periodicSleeps() async {
        await #expect(processExitsWith: .success) {
            let check = try SelfCheckRun(SelfCheck { [.sharedThreads] }, timeout: .seconds(2))
            try await eventually { (try? await check.state()) == .ok }
            let executor = BlocksWaker()
            Task(executorPreference: executor) { try await Task.sleep(untilNext: .seconds(1)) }
            try await eventually { executor.isBlocking.withLock(\.self) }
            do {
                _ = try await check.state()
            } catch let stuck as StuckService {
                exit(Array(stuck.parts.keys) == ["periodic_sleeps"] ? EXIT_SUCCESS : EXIT_FAILURE)
            }
            exit(EXIT_FAILURE)
        }
    }
}

/// Runs the jobs of one task, and blocks the thread that wakes it up after it has suspended.
private final class BlocksWaker: TaskExecutor {
    let isBlocking = Mutex(false)
    private let isSuspended = Mutex(false)

    func enqueue(_ job: consuming ExecutorJob) {
        guard !isSuspended.withLock(\.self) else {
            isBlocking.withLock { $0 = true }
            sleep(60)
            return
        }
        let job = UnownedJob(job)
        Thread.detachNewThread {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.isSuspended.withLock { $0 = true }
        }
    }
}

/// The answer of an HTTP server on this machine, read by system calls that need no other thread.
private func get(_ path: String, at port: Int) -> String? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isConnected else { return nil }
    let request = Array("GET /\(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    guard write(descriptor, request, request.count) == request.count else { return nil }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { answer += buffer.prefix(count) }
    return String(decoding: answer, as: UTF8.self)
}
