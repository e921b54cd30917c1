import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import TestSupport
import Testing

extension HarmTests.WithoutSupervisor {
    /// The people service and the cube service are away. The gateway works with its copies, for a bounded time.
    @Suite("People and cube away")
    struct AbsentPeopleTests {
        private static let grace = 20

        @Test(
            "A signed-in communicator's Alert still gets 201 and reaches the phone, and revocations made before hold; after the grace period nothing is accepted, until the services are back",
            .timeLimit(.minutes(10)), arguments: Level.isAll ? [SIGTERM, SIGSTOP] : [SIGTERM])
        func away(signal: Int32) async throws {
            try await SharedServices.use { services in
                let log = try await services.start("msi-message-log")
                let relay = try await services.start("msi-fcm-relay")
                let portal = try await services.startGateway(
                    in: "grace\(signal)",
                    settings: SystemTests.noLimits.merging(["MSI_GATEWAY_PEOPLE_GRACE": "\(Self.grace)"]) { $1 }
                ).portal
                let subject = try await portal.makeSubject("Alert")
                let phone = try await Phone.register(at: services.fcm)
                try await services.fcm.subscribe(phone.token, to: subject.topicKey)
                let ann = try await Communicator("anna\(signal)", portal)
                let bob = try await Communicator("boris\(signal)", portal)
                for caller in [ann, bob] { #expect(try await caller.post(to: subject).status == 201) }
                let disabled = try await portal.call(.PUT, "/account/boris\(signal)", ["disabled": true])
                #expect(disabled.status == 200, "\(disabled)")
                let scripted = portal.with(token: try await ann.makeToken())
                #expect(try await scripted.call(.GET, "/session").status == 200)
                let token = try await ann.tokenID()
                #expect(try await portal.call(.DELETE, "/token/\(token)").status == 204)

                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await phone.listen(at: services.fcm) }
                    defer { group.cancelAll() }
                    for process in [services.people, services.cube] {
                        process.signal(signal)
                        if signal == SIGTERM { _ = await process.end() }
                    }
                    let away = ContinuousClock.now
                    let posted = try await ann.post(to: subject)
                    #expect(posted.status == 201, "\(posted)")
                    let msiKey = try posted.json["msi_key"]?.string ?? ""
                    for refused in [
                        try await bob.post(to: subject), try await scripted.post(subject.message()),
                        try await portal.with(token: nil).post(subject.message()),
                    ] {
                        #expect(refused.status == 401, "\(refused)")
                    }
                    let health = try await portal.call(.GET, "/health")
                    let report = try health.json
                    #expect(health.status == 200 && report["status"] == "degraded", "\(health)")
                    for service in ["people", "cube"] {
                        let until = try #require(report["copies"]?[service]?.integer)
                        #expect((0...Int64(Self.grace) * 1_000).contains(until - .nowInMilliseconds), "\(health)")
                    }
                    // It needs neither service, so the grace period may be over by now.
                    _ = try await phone.events(2, where: { $0.msiKey == msiKey })

                    // An answer of a busy machine can be 503, too, while messages are accepted.
                    try await eventually("no message is accepted", every: .milliseconds(200)) {
                        let health = try await portal.call(.GET, "/health").status
                        let posted = try await ann.post(to: subject).status
                        return health == 503 && posted == 503
                    }
                    #expect(ContinuousClock.now - away > .seconds(Self.grace / 2))
                    #expect(try await portal.call(.GET, "/health").status == 503)

                    let restarted = try await services.restart(after: signal)
                    try await eventually("messages are accepted again") { try await ann.post(to: subject).status == 201 }
                    try await eventually { try await bob.post(to: subject).status == 401 }
                    for process in restarted + [log, relay] { #expect(process.isRunning) }
                }
            }
        }

        @Test(
            "With the default grace, changes immediately before the stop concern only what they change, and a sign-out counts at once",
            .timeLimit(.minutes(10)), arguments: Level.isAll ? [SIGKILL, SIGSTOP] : [SIGSTOP])
        func changedJustBefore(signal: Int32) async throws {
            try await SharedServices.use { services in
                let log = try await services.start("msi-message-log")
                let relay = try await services.start("msi-fcm-relay")
                let subject = try await services.portal.makeSubject("Alert")
                let restricted = try await services.portal.makeSubject(
                    "Alert", name: "Restricted", in: subject.channel, subject.area)
                let phone = try await Phone.register(at: services.fcm)
                for path in [subject, restricted] { try await services.fcm.subscribe(phone.token, to: path.topicKey) }
                let ann = try await Communicator("ann\(signal)", services.portal)
                let bob = try await Communicator("bob\(signal)", services.portal)
                let carl = try await Communicator("carl\(signal)", services.portal)
                let second = try await services.startGateway(in: "second\(signal)", settings: SystemTests.noLimits)
                for caller in [ann, bob, carl] { #expect(try await caller.post(to: restricted).status == 201) }
                try await eventually("the copies of both gateways") {
                    ["", "/second\(signal)"].allSatisfy { own in
                        let file = FileManager.default.contents(atPath: "\(services.folder)\(own)/gateway.json")
                        let kept = String(decoding: file ?? Data(), as: UTF8.self)
                        return ["\"ann\(signal)\"", "\"carl\(signal)\"", restricted.subject].allSatisfy { kept.contains($0) }
                    }
                }

                let disabled = try await services.portal.call(.PUT, "/account/bob\(signal)", ["disabled": true])
                services.people.signal(signal)
                #expect(disabled.status == 200, "\(disabled)")
                let listed = try await services.portal.call(
                    .PUT, "/access/\(restricted.channel)/\(restricted.area)/\(restricted.subject)", ["access": ["ann\(signal)"]])
                services.cube.signal(signal)
                #expect(listed.status == 200, "\(listed)")

                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await phone.listen(at: services.fcm) }
                    defer { group.cancelAll() }
                    // The first ones notice it, and the others know.
                    for _ in 0..<3 {
                        for (caller, path, status) in [
                            (ann, subject, 201), (ann, restricted, 201), (carl, subject, 201), (carl, restricted, 403),
                            (bob, subject, 401),
                        ] {
                            let answer = try await caller.post(to: path)
                            #expect(answer.status == status, "\(answer)")
                        }
                        #expect(try await services.portal.call(.GET, "/channel").status == 200)
                    }
                    _ = try await phone.events(2, where: { $0.json["data"]?["topic_key"]?.string == restricted.topicKey })

                    // A gateway that has never seen the cookie has listed it.
                    #expect(try await ann.at(second.portal).post(to: subject).status == 201)
                    // A gateway that is started during the outage has the copies of the first one.
                    let third = try await services.startGateway()
                    for (caller, status) in [(ann, 201), (carl, 201), (bob, 401)] {
                        let answer = try await caller.at(third.portal).post(to: subject)
                        #expect(answer.status == status, "\(answer)")
                    }
                    third.process.signal(SIGTERM)
                    #expect(await third.process.end() == 0)
                    let out = try await carl.call(.DELETE, "/session")
                    #expect(out.status == 204 && out["Set-Cookie"]?.contains("Max-Age=0") == true, "\(out)")
                    #expect(try await carl.post(to: subject).status == 401)
                    let changed = try await services.portal.call(.PUT, "/account/ann\(signal)", ["disabled": true])
                    #expect([503, 504].contains(changed.status), "\(changed)")

                    if signal == SIGKILL { for process in [services.people, services.cube] { _ = await process.end() } }
                    let restarted = try await services.restart(after: signal)
                    try await eventually("the sign-out is made up for") {
                        let audit = try await services.portal.call(.GET, "/audit?action=sign_in.end&account=carl\(signal)")
                        return try audit.status == 200 && audit.json["entries"]?.array.isEmpty == false
                    }
                    try await eventually { try await carl.at(second.portal).post(to: subject).status == 401 }
                    try await eventually { try await bob.at(second.portal).post(to: subject).status == 401 }
                    for process in restarted + [log, relay, second.process] { #expect(process.isRunning) }
                }
            }
        }

        @Test("A gateway that was frozen during a revocation does not use its old copy", .timeLimit(.minutes(10)))
        func frozenGateway() async throws {
            try await SharedServices.use { services in
                _ = try await services.start("msi-message-log")
                let subject = try await services.portal.makeSubject("Information")
                let bob = try await Communicator("bruno", services.portal)
                let second = try await services.startGateway()
                try await eventually { try await bob.at(second.portal).post(to: subject).status == 201 }
                second.process.signal(SIGSTOP)
                // Longer than a silence that only the next request would notice.
                try await Task.sleep(for: .seconds(2))
                #expect(try await services.portal.call(.PUT, "/account/bruno", ["disabled": true]).status == 200)
                async let answer = bob.at(second.portal).post(to: subject)
                try await Task.sleep(for: .milliseconds(500))
                second.process.signal(SIGCONT)
                #expect(try await answer.status == 401)
            }
        }
    }
}
