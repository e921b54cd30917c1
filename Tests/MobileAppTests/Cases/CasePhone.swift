import FoundationEssentials
import Base
import MobileApp
import TestSupport

/// The phone of a case. The runner plays the hub, the clock and the person, and compares what the app then shows.
final class CasePhone {
    /// How a step ended.
    enum Outcome: String {
        case done, failed, refused
    }

    /// The app does not allow what the person wants.
    struct Refused: Error {}

    let phone: TestPhone
    private(set) var app: MobileApp
    private var run: Task<Void, Never>?
    var language: String
    var names = CaseNames()
    /// The hub's broadcasts.
    var active: JSONValue = ["broadcasts": [], "withdrawn": []]
    var deleted: [String: StoredMessage] = [:]
    /// What the last step has exported.
    var file: Data?
    /// What the hub and the phone had before the present step.
    private(set) var before = Counts()

    struct Counts {
        var requests = 0
        var reports = 0
        var popups = 0
        var removedPopups = 0
        /// The id of the installation in the last report.
        var installation: String?
    }

    var clock: TestClock { phone.clock }
    var hub: TestHub { phone.hub }

    /// - Throws: ``CaseMistake``.
    init(given: CaseMembers) throws {
        var given = given
        let offset = try Self.offsets(given.take("zone") ?? "+00:00")
        let now = try given.optionalMoment("time") ?? milliseconds("2026-11-24T12:00:00Z")
        phone = try TestPhone(clock: TestClock(now: now, offset: offset))
        app = phone.app
        language = try given.optionalText("language") ?? "en"
        // What FCM knows of the phone's topics is not a subject of the cases, and would add looks at the hub.
        hub.silenceFCM()
        try changeHub(&given)
        try given.end()
    }

    /// - Throws: ``CaseMistake`` for a step in other words, ``CaseFailure`` if the app does something else.
    func play(_ step: CaseMembers, isOfLibrary: Bool) async throws {
        var step = step
        let when = try step.text("when")
        let place = "\(step.place) (\(when))"
        let isOfLibrary = try step.optionalText("library") != nil || isOfLibrary
        guard when != "fcm" || isOfLibrary else { throw CaseMistake("\(place): a step of FCM is for the library only") }
        let word = try step.optionalText("outcome") ?? Outcome.done.rawValue
        guard let expected = Outcome(rawValue: word) else { throw CaseMistake("\(place): unknown outcome: \(word)") }
        let then = step.take("then")
        begin()
        let seconds = when == "time" ? try step.optionalInteger("within") : nil
        var outcome = Outcome.done
        var failure: (any Error)?
        do {
            if seconds == nil { try await act(when, &step) }
        } catch let mistake as CaseMistake {
            throw mistake
        } catch let late as TooLate {
            throw late
        } catch is Refused, is Subscriptions.ForcedSubject, is Subscriptions.NotSubscribed, is Account.SignedOut {
            outcome = .refused
        } catch HubFailure.refused(let status, _) where when == "person" && status < 500 {
            outcome = .refused
        } catch let refusal as Account.Refusal where refusal.status < 500 {
            outcome = .refused
        } catch {
            outcome = .failed
            failure = error
        }
        try step.end()
        guard outcome == expected else {
            let reason = failure.map { ": \($0)" } ?? ""
            throw CaseFailure("\(place): expected: \(expected.rawValue), but it was \(outcome.rawValue)\(reason)")
        }
        if let seconds { try await pass(seconds, until: then ?? [:]) }
        if let then { try await expect(then, place) }
    }

    private func begin() {
        let reports = hub.reports
        before = Counts(
            requests: hub.requests.count, reports: reports.count, popups: phone.push.shown.count,
            removedPopups: phone.push.removed.count, installation: reports.last?["installation"]?.string)
        file = nil
    }

    // MARK: The app's runs

    /// Starts the app, and waits for its first look.
    ///
    /// - Throws: Why the look has failed.
    func start() async throws {
        await end()
        let app = MobileApp(platform: phone.platform, database: phone.database)
        self.app = app
        run = Task { await app.run { _ in } }
        try await eventually("the app listens") { phone.push.isListening }
        try await look()
    }

    func end() async {
        run?.cancel()
        await run?.value
        run = nil
    }

    func clear() async throws {
        guard run == nil else { throw CaseMistake("clear: the app must not run") }
        try await phone.database.clear()
        app = MobileApp(platform: phone.platform, database: phone.database)
        deleted = [:]
    }

    /// Looks at the hub. While it leaves requests without an answer, time passes.
    ///
    /// - Throws: Why the look has failed.
    func look() async throws {
        guard run != nil else { throw CaseMistake("look: the app must run") }
        let (hub, clock) = (hub, clock)
        let time = Task {
            while !Task.isCancelled {
                if hub.unanswered > 0 { clock.advance(by: 1) }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        defer { time.cancel() }
        try await eventually("the app runs") {
            do {
                try await app.look()
                return true
            } catch is MobileApp.NotRunning {
                return false
            }
        }
    }

    /// Time passes, second by second, until the app is as expected. The app gets real time for what it does in each second.
    private func pass(_ seconds: Int64, until then: JSONValue) async throws {
        for _ in 0..<seconds {
            try await Task.sleep(for: .milliseconds(50))
            if try await differences(from: then).isEmpty { return }
            clock.advance(by: 1)
        }
    }

    // MARK: The zone

    /// - Parameter zone: An offset, or an array of offsets, each from a moment on.
    private static func offsets(_ zone: JSONValue) throws -> @Sendable (Int64) -> Int {
        guard let elements = zone.elements else {
            let only = try offset(zone)
            return { _ in only }
        }
        let offsets = try elements.map { element -> (from: Int64, seconds: Int) in
            var members = try CaseMembers(element, "given.zone")
            let from = try members.optionalMoment("from") ?? .min
            let seconds = try offset(members.take("offset") ?? .null)
            try members.end()
            return (from, seconds)
        }
        return { moment in offsets.last { $0.from <= moment }?.seconds ?? 0 }
    }

    /// The seconds of an offset such as `+01:00`.
    private static func offset(_ text: JSONValue) throws -> Int {
        guard let match = text.string?.wholeMatch(of: /([+-])(\d\d):(\d\d)/), let hours = Int(match.2), let minutes = Int(match.3)
        else { throw CaseMistake("given.zone: expected an offset such as +01:00, got \(text)") }
        return (match.1 == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}
