import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// The message log is killed at each step of a push to persons.
@Suite("Pushes to persons over kills", .timeLimit(.minutes(10)))
struct PersonPushKillTests {
    private static let devices = [ReachedDevice.phone(of: .ann, "t1"), .phone(of: .ann, "t2")]

    /// The step at which it is killed.
    enum Step: CaseIterable, Sendable {
        /// The push is stored and leased, and no people service is there.
        case claim
        /// The people service is about to answer.
        case resolve
        /// A relay has it.
        case send
    }

    @Test(
        "After a kill each device gets the same push, so that the relays send it once",
        arguments: Step.allCases, StoreKind.allCases)
    func killed(at step: Step, _ kind: StoreKind) async throws {
        let people = PeopleDouble(Self.devices)
        let gate = Gate()
        let isHeld = First()
        let relay = RelayDouble(pushes: { command in
            // Only the command before the kill is held.
            if step == .send, isHeld.take() { await gate.pass() }
            return command.recipients.map { .success("n-\($0.text)") }
        })
        if step == .resolve { people.wait { if isHeld.take() { await gate.pass() } } }
        try await withDatabase(kind) { folder, settings in
            try await relay.run(in: folder) {
                let id = try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    func logged() async throws -> ObjectID {
                        try await log.client.request(LogPush.persons(), context: CallerContext(actor: "people")).push.id
                    }
                    guard step != .claim else {
                        let id = try await logged()
                        await log.process.kill()
                        return id
                    }
                    return try await people.run(in: folder) {
                        let id = try await logged()
                        try await eventually("the step") { isHeld.isTaken }
                        await log.process.kill()
                        gate.open()
                        return id
                    }
                }
                try await people.run(in: folder) {
                    try await RunningMessageLog.with(in: folder, settings: settings) { log in
                        let ended = try await eventually { () -> Push? in
                            let push = try await log.client.request(GetPush(pushID: id))
                            return push.relay.nextAttempt == nil ? push : nil
                        }
                        #expect(ended.relay.state == .relayed && ended.recipients == Self.devices.map(\.recipient))
                    }
                }
            }
        }
        // A relay tells a repeated command by its id, its message and its recipients.
        #expect(Set(relay.askedPushes).count == 1)
        #expect(relay.askedPushes.count == (step == .send ? 2 : 1))
        #expect(relay.askedPushes.first?.recipients == [.token("t1"), .token("t2")])
    }
}
