import Archive
import Base
import Bus
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import MessageLog

/// Pushes to persons from `push.log` to their devices, with a people service and relays that answer in every way.
@Suite("Pushes to persons over the bus", .timeLimit(.minutes(10)))
struct PersonPushOverTheBusTests {
    private static let people = CallerContext(actor: "people")

    private func log(_ command: LogPush, by log: RunningMessageLog) async throws -> Push {
        try await log.client.request(command, context: Self.people).push
    }

    private func wait(
        for id: ObjectID, in log: RunningMessageLog, until isWanted: (PushRecord) -> Bool
    ) async throws -> Push {
        try await eventually("the push is as the test wants it") {
            let push = try await log.client.request(GetPush(pushID: id))
            return isWanted(push.relay) ? push : nil
        }
    }

    @Test(
        "Each device of the persons gets the push once, in its language, except the one that is left out, and the archive has no name",
        arguments: StoreKind.ofRules)
    func devices(_ kind: StoreKind) async throws {
        let (phone, browser) = (ReachedDevice.phone(of: .ann, "t1"), ReachedDevice.browser(of: .ann, "s1", language: "ar"))
        let (other, own) = (ReachedDevice.browser(of: .ben, "s2"), ReachedDevice.phone(of: .ben, "t2"))
        let (relay, webpush, people) = (RelayDouble(), WebPushDouble(), PeopleDouble([phone, browser, other, own]))
        try await RunningMessageLog.with(relay, on: kind, settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                try await people.run(in: log.folder) {
                    // From then on it is connected to both, so that the push needs one turn.
                    let message = try await log.log(.sample()).msiKey
                    _ = try await log.wait(for: message) { $0.state == .relayed }
                    let command = try LogPush.persons(to: [.ann, .ben], except: own.device)
                    let logged = try await self.log(command, by: log)
                    #expect(logged.urgency == .high && logged.relay.recipients.map(\.recipient.field) == [.account, .account])
                    let ended = try await wait(for: logged.id, in: log) { $0.nextAttempt == nil }
                    #expect(ended.relay.state == .relayed && ended.relay.attempts == 1)
                    #expect(ended.recipients == [phone, browser, other].map(\.recipient))
                    #expect(
                        ended.relay.recipients.map(\.name) == ["n-t1", "https://push.example/s1", "https://push.example/s2"])
                    #expect(relay.askedPushes.map(\.recipients) == [[.token("t1")]])
                    #expect(Set(webpush.asked.map(\.recipients)) == [[.token("s1")], [.token("s2")]])
                    #expect((relay.askedPushes + webpush.asked).allSatisfy { $0.pushID == logged.id })
                    let question = try #require(people.questions.first)
                    #expect(question.accounts == [.ann, .ben] && question.devices.isEmpty && people.questions.count == 1)
                    #expect(question.kind == .friendRequest && question.except == own.device)

                    // The answer to a repeated command is the stored push, which has no names any more.
                    #expect(try await self.log(command, by: log) == ended)
                    let conflict = await log.client.failure(of: try LogPush.persons(), context: Self.people)
                    #expect(conflict?.status == .conflict)
                    let json = String(decoding: try JSONCoder.encode(ended), as: UTF8.self)
                    #expect(json.contains(#""fcm_device":"\#(phone.device)""#) && !json.contains("ann"))
                    #expect(!json.contains("\"token\""))
                    #expect(ended.unregistered.isEmpty && people.reports.isEmpty)
                }
            }
        }
    }

    @Test(
        "While the people service is away or too old, pushes to persons wait, and nothing else does; then each goes out once",
        arguments: StoreKind.ofRules)
    func withoutPeople(_ kind: StoreKind) async throws {
        let (relay, webpush) = (RelayDouble(), WebPushDouble())
        let people = PeopleDouble([.phone(of: .ann, "t1"), .browser(of: .ann, "s1")])
        people.fail(CommandFailure(.invalid, "unknown command \"device.resolve\""))
        try await RunningMessageLog.with(relay, on: kind, settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                var ids: [ObjectID] = []
                for number in 0..<10 { ids.append(try await self.log(.persons("\(number)"), by: log).id) }
                let waiting = try await wait(for: ids[0], in: log) { $0.recipients[0].error != nil }
                #expect(waiting.relay.recipients[0].error?.code == "PEOPLE_UNREACHABLE" && waiting.relay.attempts == 0)
                let message = try await log.log(.sample()).msiKey
                _ = try await log.wait(for: message, within: .seconds(30)) { $0.state == .relayed }
                try await people.run(in: log.folder) {
                    try await eventually("it is asked") { !people.questions.isEmpty }
                    #expect(try await log.client.request(GetPush(pushID: ids[0])).relay.nextAttempt != nil)
                    people.fail(nil)
                    for id in ids { _ = try await wait(for: id, in: log) { $0.state == .relayed } }
                }
                #expect(relay.askedPushes.map(\.pushID).sorted() == ids.sorted())
                #expect(webpush.asked.map(\.pushID).sorted() == ids.sorted())
            }
            #expect(log.warnings("the people service does not answer; pushes to persons wait") == 1)
        }
    }

    @Test("Each attempt has the addresses of that time, and a device that has signed out in between gets nothing more")
    func later() async throws {
        let (kept, gone) = (ReachedDevice.phone(of: .ann, "old"), ReachedDevice.phone(of: .ann, "gone"))
        let people = PeopleDouble([kept, gone])
        let first = First()
        let relay = RelayDouble(pushes: { command in
            guard first.take() else { return command.recipients.map { .success("n-\($0.text)") } }
            people.change { $0 = [kept.at("new"), .phone(of: .ann, "later")] }
            return command.recipients.map { _ in .failure(DeliveryError(.unavailable, retryAfter: 100)) }
        })
        try await RunningMessageLog.withFastRetries(relay) { log in
            try await people.run(in: log.folder) {
                let id = try await self.log(.persons(), by: log).id
                let ended = try await wait(for: id, in: log) { $0.nextAttempt == nil }
                #expect(ended.relay.state == .failed && ended.relay.recipients.map(\.state) == [.accepted, .failed])
                #expect(ended.relay.recipients[1].error?.code == "DEVICE_GONE" && ended.unregistered.isEmpty)
                #expect(relay.askedPushes.map { $0.recipients.map(\.text).sorted() } == [["gone", "old"], ["new"]])
                #expect(people.questions.map(\.accounts.count) == [1, 0] && people.questions[1].devices.count == 2)
            }
        }
    }

    @Test("A device whose app is gone is reported before its outcome is stored, and again until the report is answered")
    func gone() async throws {
        let first = First()
        let (phone, uninstalled) = (ReachedDevice.phone(of: .ann, "t1"), ReachedDevice.phone(of: .ann, "gone"))
        let people = PeopleDouble([phone, uninstalled], refuseReport: { first.take() })
        let relay = RelayDouble(pushes: { command in
            command.recipients.map { $0.text == "gone" ? .failure(DeliveryError(.unregistered)) : .success("n-\($0.text)") }
        })
        try await RunningMessageLog.withFastRetries(relay) { log in
            try await people.run(in: log.folder) {
                let id = try await self.log(.persons(), by: log).id
                let waiting = try await wait(for: id, in: log) { $0.state == .retrying }
                #expect(waiting.relay.recipients.map(\.state) == [.accepted, .pending] && people.reports.isEmpty)
                #expect(waiting.relay.recipients[1].error?.isUnregistered == true)
                let ended = try await wait(for: id, in: log) { $0.nextAttempt == nil }
                #expect(ended.relay.state == .failed && ended.relay.recipients[1].isUnregistered)
                #expect(ended.unregistered.isEmpty, "only tokens are told")
                let reported = EndDevicePushes.Ended(device: uninstalled.device, registered: uninstalled.registered)
                #expect(people.reports.map(\.devices) == [[reported]])
                #expect(relay.askedPushes.flatMap(\.recipients).count { $0.text == "t1" } == 1)
            }
        }
    }

    @Test(
        "A device whose transport is switched off gets nothing, and the others do, even if their push waited over a restart",
        arguments: [true, false])
    func switchedOff(usesFCM: Bool) async throws {
        let people = PeopleDouble([.phone(of: .ann, "t1"), .browser(of: .ann, "s1")])
        let settings = usesFCM ? [:] : WebPushDouble.settings.merging(["MSI_FCM": "off"]) { $1 }
        let webpush = WebPushDouble()
        try await RelayDouble().run { folder in
            try await webpush.run(in: folder) {
                let id = try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    try await self.log(.persons(), by: log).id
                }
                try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    _ = try await wait(for: id, in: log) { $0.recipients[0].error != nil }
                    try await people.run(in: folder) {
                        let ended = try await wait(for: id, in: log) { $0.nextAttempt == nil }
                        #expect(ended.relay.state == .failed)
                        #expect(ended.relay.recipients.map(\.state) == (usesFCM ? [.accepted, .failed] : [.failed, .accepted]))
                        #expect(ended.relay.recipients[usesFCM ? 1 : 0].error?.code == "SWITCHED_OFF")
                    }
                }
            }
        }
    }

    @Test("A push that is held since a restore asks for no devices before its release")
    func held() async throws {
        let (relay, people) = (RelayDouble(), PeopleDouble([.phone(of: .ann, "t1")]))
        try await RunningMessageLog.with(relay) { log in
            try await people.run(in: log.folder) {
                var command = try LogPush.persons()
                command.held = true
                let id = try await self.log(command, by: log).id
                let later = try await self.log(.persons("later"), by: log).id
                _ = try await wait(for: later, in: log) { $0.state == .relayed }
                #expect(people.questions.count == 1 && relay.askedPushes.map(\.pushID) == [later])
                _ = try await log.client.request(ReleaseHeld(keys: [id]), context: .ann)
                _ = try await wait(for: id, in: log) { $0.state == .relayed }
                #expect(relay.askedPushes.map(\.pushID) == [later, id])
            }
        }
    }

    @Test("A push to persons without a device that wants it is relayed to nobody")
    func nobody() async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay) { log in
            try await PeopleDouble([]).run(in: log.folder) {
                let id = try await self.log(.persons(), by: log).id
                let ended = try await wait(for: id, in: log) { $0.nextAttempt == nil }
                #expect(ended.relay.state == .relayed && ended.recipients.isEmpty && relay.askedPushes.isEmpty)
            }
        }
    }

    @Test("A push of a newer version, whose content this one cannot read, waits and harms nothing")
    func newerVersion() async throws {
        try await withArchive { store in
            let push = Push(
                sender: "people", idempotencyKey: "k", transport: .webpush, fairnessKey: "friends",
                message: ["person": ["form": 2]], urgency: .high, logged: .now, expires: .now + 3_600_000,
                relay: PushRecord(logged: [.account("ann")], by: .webpush, due: .now, expires: .now + 3_600_000))
            _ = try await store.insert(push)
            try await Outbox.sample(store, AcceptingRelay()).run {
                let record = try await eventually { () -> PushRecord? in
                    let record = try await store.push(push.id)?.relay
                    return record?.recipients[0].error == nil ? nil : record
                }
                #expect(record.recipients[0].error?.code == "RELAY_TOO_OLD" && record.state == .pending)
                #expect(try #require(record.nextAttempt) > .now + 30_000)
            }
        }
    }
}
