import AsyncHTTPClient
import Glibc
import Base
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

/// A phone at the emulator that notes when messages arrive.
final class BenchmarkPhone: Sendable {
    /// When a message's components arrived, in nanoseconds of the monotonic clock.
    private struct Arrival {
        var notification: UInt64?
        var data: UInt64?

        /// When both had arrived.
        var completed: UInt64? {
            guard let notification, let data else { return nil }
            return max(notification, data)
        }
    }

    private struct State {
        var arrivals: [String: Arrival] = [:]
        var completed = 0
        var isOpen = false
    }

    private let token: String
    private let fcm: FCMServer
    private let state = Mutex(State())

    private init(token: String, fcm: FCMServer) {
        self.token = token
        self.fcm = fcm
    }

    /// Calls `body` while a phone that is subscribed to topics listens. Removes the phone afterwards.
    static func with<Value>(
        topics: [String], at fcm: FCMServer, _ body: (BenchmarkPhone) async throws -> Value
    ) async throws -> Value {
        let answer = try await fcm.call(.POST, "/emulator/devices")
        guard answer.status == 201, let token = try answer.json["token"]?.string else { throw UnexpectedAnswer(answer) }
        for topic in topics { try await fcm.subscribe(token, to: topic) }
        let phone = BenchmarkPhone(token: token, fcm: fcm)
        let listening = Task { try await phone.listen() }
        defer { listening.cancel() }
        try await eventually("the phone listens") { phone.state.withLock(\.isOpen) }
        let value = try await body(phone)
        _ = try await fcm.call(.DELETE, "/emulator/devices/\(token)")
        return value
    }

    /// The number of messages that have arrived with both components since ``forget()``.
    var completed: Int { state.withLock(\.completed) }

    /// When a message had arrived with both components; `nil` if it has not.
    func completion(of msiKey: String) -> UInt64? {
        state.withLock { $0.arrivals[msiKey]?.completed }
    }

    /// When the components of a message arrived, in nanoseconds of the monotonic clock; `nil` if one has not.
    func arrivals(of msiKey: String) -> (notification: UInt64, data: UInt64)? {
        state.withLock { state in
            guard let arrival = state.arrivals[msiKey], let notification = arrival.notification, let data = arrival.data else {
                return nil
            }
            return (notification, data)
        }
    }

    func forget() {
        state.withLock { state in
            state.arrivals = [:]
            state.completed = 0
        }
    }

    private func listen() async throws {
        let request = HTTPClientRequest(url: "https://127.0.0.1:\(fcm.port)/emulator/devices/\(token)/events")
        let response = try await fcm.http.execute(request, deadline: .distantFuture)
        state.withLock { $0.isOpen = true }
        var unread: [UInt8] = []
        for try await bytes in response.body {
            let time = MonotonicClock.nanoseconds
            unread.append(contentsOf: bytes.readableBytesView)
            note(takeLines(from: &unread), at: time)
        }
    }

    /// The components in the complete lines of a stream of events.
    private func takeLines(from unread: inout [UInt8]) -> [SentComponent] {
        guard let end = unread.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let components = unread[...end].split(separator: UInt8(ascii: "\n")).compactMap(component)
        unread.removeSubrange(...end)
        return components
    }

    /// The component in a line, if the line is an event. Nothing is parsed: the benchmark's own messages do not
    /// contain these texts.
    private func component(_ line: ArraySlice<UInt8>) -> SentComponent? {
        guard line.starts(with: "data: ".utf8), let key = Self.end(of: "\"msi_key\":\"", in: line) else { return nil }
        let isNotification = Self.end(of: "\"notification\":", in: line) != nil
        return SentComponent(
            msiKey: String(decoding: line[key..<min(key + 24, line.endIndex)], as: UTF8.self),
            name: isNotification ? "notification" : "data")
    }

    private func note(_ components: [SentComponent], at time: UInt64) {
        state.withLock { state in
            for component in components {
                var arrival = state.arrivals[component.msiKey, default: Arrival()]
                let wasComplete = arrival.completed != nil
                if component.name == "data" { arrival.data = arrival.data ?? time }
                if component.name == "notification" { arrival.notification = arrival.notification ?? time }
                if !wasComplete, arrival.completed != nil { state.completed += 1 }
                state.arrivals[component.msiKey] = arrival
            }
        }
    }

    /// The index after the first occurrence of a text.
    private static func end(of text: StaticString, in line: ArraySlice<UInt8>) -> Int? {
        let length = text.utf8CodeUnitCount
        return line.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var place = 0
            while place + length <= bytes.count {
                guard let next = memchr(start + place, Int32(text.utf8Start[0]), bytes.count - length + 1 - place) else {
                    return nil
                }
                place = UnsafeRawPointer(next) - start
                if memcmp(next, text.utf8Start, length) == 0 { return line.startIndex + place + length }
                place += 1
            }
            return nil
        }
    }
}
