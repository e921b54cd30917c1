import Bus
import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import TestSupport

/// One run: the product under traffic and faults, until every message has ended and can be checked.
struct Experiment: Sendable {
    let store: Store
    let length: Duration
    let seed: UInt64
    /// The number of phones with the students' app; 0 for none.
    let phones: Int
    /// The number of browsers that get pushes; 0 for none.
    let browsers: Int
    /// The number of students who use the hub; 0 for none.
    let students: Int
    /// The number of students who study together; 0 for none. Version 1.0.0 does not know what they do.
    let studying: Int
    /// Another version, which runs beside this one.
    let other: OtherVersion?
    /// The state directory, which exists and is empty.
    let folder: String
    let journal: Journal

    private static let clients = 16
    /// The levels of the first subjects, to which the phones subscribe. The others are Optional: with all of them, the phones would
    /// be most of the load.
    static let levels = ["Forced", "Recommended"]
    /// The communicator of broadcasts makes one request while a portal makes this many posts.
    private static let postsPerBroadcast = 4
    /// The editor of the cube makes one request while a portal makes this many posts.
    private static let postsPerEdit = 2
    /// A student makes one request while a portal makes this many posts.
    private static let postsPerStudent = 6
    /// A person who studies does one thing while a portal makes this many posts.
    static let postsPerStudy = 4
    /// The number of programs that log pushes.
    private static let programs = 4
    /// How long a portal retries: longer than any outage.
    static let retryTimeout = Duration.seconds(300)
    /// How long the product may take to be healthy after the last fault, on a busy machine.
    private static let recoveryTimeout = Duration.seconds(600)
    /// How long a message or a push may be overdue at the end. Retries happen within this time.
    static let maxOverdue = Duration.seconds(120)
    /// The maximum wait for a retry, and a minute more.
    static let settlingTimeout = Duration.seconds(11 * 60)

    /// How long the phones' last reports may take to be counted.
    private static let receiptTimeout = Duration.seconds(180)
    /// How long a process that joins may take to get messages.
    private static let joinTimeout = Duration.seconds(600)

    /// The machine's disk, in megabytes.
    private static let diskSize = 512

    /// - Throws: An error that prevents a verdict, such as a process that cannot be started.
    func run() async throws -> Verdict {
        guard SmallDisk.isPossible else { return try await run(disk: nil) }
        return try await SmallDisk.with(megabytes: Self.diskSize) { disk in
            let verdict = try await run(disk: disk)
            // The disk is about to be unmounted.
            if !verdict.isGood { try FileManager.default.copyItem(atPath: disk.folder, toPath: folder + "/disk") }
            return verdict
        }
    }

    private func run(disk: SmallDisk?) async throws -> Verdict {
        let machine = try await Machine(disk: disk, in: folder, journal: journal)
        let resolver = try await PreloadedLibrary.build("resolver", FCMPath.resolver, in: folder)
        let emulatorPort = try FreePort.choose()
        return try await withTCPProxy(to: emulatorPort) { first in
            try await withTCPProxy(to: emulatorPort) { second in
                var paths: [Part: FCMPath] = [:]
                for (relay, proxy) in zip(Part.relays, [first, second]) {
                    paths[relay] = FCMPath(proxy: proxy, hangingFile: "\(folder)/\(relay.name)-resolver-hangs")
                }
                return try await withPushServices(browsers > 0 ? BrowserFleet.services : 0) { [paths] pushServices in
                    try await runAndEnd(
                        try Deployment(
                            in: folder, store: store, emulatorPort: emulatorPort, machine: machine, paths: paths,
                            resolver: resolver, pushServices: pushServices.map(\.url), other: other, seed: seed,
                            journal: journal), pushServices)
                }
            }
        }
    }

    private func runAndEnd(_ deployment: Deployment, _ pushServices: [TestPushService]) async throws -> Verdict {
        try await perform {
            try await run(deployment, pushServices)
        } finally: {
            // Also when the task is cancelled.
            await Task { await deployment.end() }.value
        }
    }

    private func run(_ deployment: Deployment, _ pushServices: [TestPushService]) async throws -> Verdict {
        try await deployment.start()
        journal.say("\(deployment.parts.count - deployment.late.count) processes are up in \(folder)")
        var evidence = Evidence()
        evidence.storing = store.storing
        try await deployment.withClients { portal, fcm in
            try await deployment.withServices { services in
                let clients = Clients(portal: portal, fcm: fcm, services: services)
                try await observe(deployment, clients, pushServices, &evidence)
            }
        }
        await deployment.stop()
        journal.say("everything is stopped")
        if let changes = deployment.versionChanges { journal.say(changes) }
        evidence.injectedFaults += deployment.machine.injectedFaults
        try collect(from: deployment.parts, into: &evidence)
        evidence.logLines = ServiceLogs(files: deployment.parts.flatMap(\.logFiles)).lines
        return Verdict(evidence)
    }

    struct Clients {
        let portal: Portal
        let fcm: FCMServer
        let services: ServiceClients
    }

    /// Posts messages and logs pushes during the faults, and reads what FCM, the phones and the browsers have at the end.
    private func observe(
        _ deployment: Deployment, _ clients: Clients, _ pushServices: [TestPushService], _ evidence: inout Evidence
    ) async throws {
        let subjects = try await makeSubjects(clients.portal)
        let fleet = try await BrowserFleet(
            of: browsers, at: pushServices, subjects, through: clients.portal, journal: journal)
        if browsers > 0 { journal.say("the browsers are subscribed") }
        let broadcasts = BroadcastTraffic(
            portal: clients.portal, seed: seed, elsewhere: try await makeChannel(clients.portal), retryTimeout: Self.retryTimeout)
        try await broadcasts.sendEarly()
        // Persons of phones cannot sign in at another version, which knows no students.
        evidence.phones = try await deployment.withPhones(phones, accounts: other == nil ? students : 0) {
            journal.say("the phones are ready")
            try await post(to: subjects, fleet, broadcasts, deployment, clients, &evidence)
            journal.say("everything has ended")
        }
        journal.say("the phones have reported")
        if let received = evidence.phones?.report?.received {
            evidence.phones?.receipts = try await clients.portal.receipts(expected: received, within: Self.receiptTimeout)
        }
        for subject in subjects.all {
            let sends = try await clients.fcm.acceptedComponents(to: subject.topicKey)
            for send in sends { evidence.sends[send.component, default: []].append(send) }
            guard subject == subjects.held || subjects.ofPhones.contains(subject) else { continue }
            evidence.phones?.sent.formUnion(sends.map(\.component).filter { $0.name == "data" }.map(\.msiKey))
        }
        evidence.pushSends = try await clients.fcm.acceptedPushes()
    }

    /// Posts messages and logs pushes during the faults, and waits until all of them have ended.
    private func post(
        to subjects: RunSubjects, _ fleet: BrowserFleet, _ broadcasts: BroadcastTraffic, _ deployment: Deployment,
        _ clients: Clients, _ evidence: inout Evidence
    ) async throws {
        let portal = clients.portal
        let interventions = Interventions(portal: portal, second: try await Communicator(portal))
        let isClockSteady = { @Sendable in deployment.machine.isClockSteady }
        let template = try await makeTemplate(portal)
        let mix = PostMix(
            seed: seed, subjects: subjects, template: template, latest: { interventions.latest },
            isClockSteady: isClockSteady)
        let traffic = Traffic(
            portal: portal, retryTimeout: Self.retryTimeout, diskMayBeFull: true, isClockSteady: isClockSteady, next: mix.post)
        let pushMix = PushMix(seed: seed, tokens: try await registerPhones(Self.pushedPhones, at: clients.fcm))
        let pushes = PushTraffic(client: clients.services.messageLogs, mix: pushMix, retryTimeout: Self.retryTimeout)
        let editor = CubeEditor(portal: portal, seed: seed, retryTimeout: Self.retryTimeout)
        let studentTraffic = StudentTraffic(
            count: students,
            StudentRequests(portal: portal, retryTimeout: Self.retryTimeout, isMixed: other != nil), seed: seed)
        let study = try await makeStudy(clients)
        try await broadcasts.begin()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await traffic.run(clients: Self.clients, every: store.period)
                // A post that is still being repeated after the end may be held.
                interventions.stop()
            }
            group.addTask { try await pushes.run(clients: Self.programs, every: store.period) }
            group.addTask { try await interventions.run() }
            evidence.join = try await join(deployment, traffic, clients)
            journal.say("\(deployment.late.count) processes have joined")
            group.addTask { try await broadcasts.run(every: store.period * Self.postsPerBroadcast) }
            group.addTask { try await editor.run(every: store.period * Self.postsPerEdit) }
            group.addTask { try await studentTraffic.run(every: store.period * Self.postsPerStudent) }
            group.addTask { try await study.run(every: store.period * Self.postsPerStudy) }
            try await harm(deployment, fleet)
            journal.say("the last fault is over")
            try await recover(deployment, portal, traffic)
            traffic.stop()
            pushes.stop()
            broadcasts.stop()
            editor.stop()
            studentTraffic.stop()
            study.stop()
            for try await _ in group {}
        }
        if students > 0 {
            // Another version could not tell whether they are signed in.
            try await deployment.upgrade()
            try await recover(deployment, portal)
            evidence.students = try await studentTraffic.evidence()
            journal.say("students have had \(studentTraffic.requests) answers")
            evidence.problems += studentTraffic.surprises.map { "an answer that no student should get: \($0)" }
        }
        evidence.study = try await settledStudy(study, deployment, clients)
        evidence.problems += study.surprises.map { "an answer that nobody who studies should get: \($0)" }
        journal.say("posted \(traffic.posts), tried again \(traffic.retries) times, accepted \(traffic.accepted.count)")
        journal.say("accepted \(pushes.accepted.count) pushes")
        evidence.accepted = traffic.accepted
        evidence.problems += traffic.surprises.map { "an answer that no portal should get: \($0)" }
        evidence.problems += pushes.surprises.map { "an answer that no program should get: \($0)" }
        evidence.problems += interventions.surprises.map { "an answer that no person should get: \($0)" }
        evidence.problems += broadcasts.surprises.map { "an answer that no communicator should get: \($0)" }
        evidence.problems += editor.surprises.map { "an answer that no administrator should get: \($0)" }
        evidence.refusals = traffic.refusals
        evidence.hangs = traffic.hangs
        evidence.interventions = interventions.done
        evidence.archive = try await settledArchive(portal)
        if browsers > 0 { evidence.browsers = try await fleet.settled(evidence.archive, within: Self.settlingTimeout) }
        evidence.acceptedPushes = pushes.accepted
        evidence.storedPushes = try await pushes.settled(maxOverdue: Self.maxOverdue, within: Self.settlingTimeout)
        evidence.sentBroadcasts = broadcasts.sent
        evidence.loggedBroadcasts = try await broadcasts.settled(within: Self.settlingTimeout)
        evidence.cubeEdits = editor.edits
        evidence.cube = try await portal.cube(clients.services.cube)
        evidence.audit = try await settledAudit(clients.services.people, evidence)
        evidence.audit?.refusal = try await deployment.auditRefusal()
    }

    /// Starts the processes that join later while messages are posted, and waits until they get some as well.
    private func join(_ deployment: Deployment, _ traffic: Traffic, _ clients: Clients) async throws -> JoinEvidence {
        try await traffic.accepts(more: 2 * Self.clients, within: Self.joinTimeout)
        try await deployment.startLate()
        // Without browsers a Web Push service has nothing to do that it logs.
        let late = deployment.late.filter { browsers > 0 || !Part.webPush.contains($0.part) }
        var evidence = JoinEvidence(joined: late.map(\.part))
        let deadline = ContinuousClock.now + Self.joinTimeout
        while evidence.working.count < late.count, ContinuousClock.now < deadline {
            for (part, messageLog) in clients.services.eachMessageLog where Part.late.contains(part) {
                guard let changes = try? await messageLog.request(ReadMessageChanges(after: nil)), changes.latest > 0 else {
                    continue
                }
                evidence.working.insert(part)
            }
            for part in late where Part.relays.contains(part.part) || Part.webPush.contains(part.part) {
                let log = part.process?.log ?? ""
                if log.contains("\"accepted by ") { evidence.working.insert(part.part) }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        // A slow machine answers late whether processes join or not.
        evidence.interruptions = traffic.interruptions
        return evidence
    }

    private func harm(_ deployment: Deployment, _ fleet: BrowserFleet) async throws {
        let schedule = Schedule(
            seed: seed, length: length, parts: deployment.parts.map(\.part) + [.machine], mixed: other?.parts ?? [])
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in deployment.parts {
                group.addTask {
                    try await part.inject(schedule.faults.filter { $0.part == part.part }, from: begin)
                    try await part.keepRunning(until: begin + length)
                }
            }
            group.addTask {
                try await deployment.machine.inject(
                    schedule.faults.filter { $0.part == .machine }, from: begin, deployment.parts.filter { $0.part.isOnMachine })
            }
            group.addTask { try await fleet.harm(seed: seed, length: length, from: begin) }
            // waitForAll() would hide the first error until every fault is over.
            for try await _ in group {}
        }
    }

    /// Waits until the product is healthy.
    private func recover(_ deployment: Deployment, _ portal: Portal) async throws {
        try await eventually("a healthy product", within: Self.recoveryTimeout, every: .milliseconds(200)) {
            for part in deployment.parts { try await part.mend() }
            return await portal.isHealthy()
        }
    }

    /// Waits until the product is healthy and accepts messages.
    private func recover(_ deployment: Deployment, _ portal: Portal, _ traffic: Traffic) async throws {
        try await recover(deployment, portal)
        try await traffic.accepts(more: 2 * Self.clients, within: Self.recoveryTimeout)
    }

    private func collect(from parts: [RunningPart], into evidence: inout Evidence) throws {
        for part in parts {
            evidence.injectedFaults += part.injectedFaults
            evidence.failedStarts += part.failedStarts
            evidence.problems += part.problems
            guard Part.relays.contains(part.part) else { continue }
            let clock = MachineClock(evidence.injectedFaults)
            for log in try part.logFiles.map({ try RelayLog(path: $0, clock: clock) }) {
                for component in log.unfinished { evidence.unfinished[component, default: []].insert(part.part) }
                for (name, time) in log.acceptances { evidence.acceptances[name] = Observation(relay: part.part, time: time) }
                for (component, times) in log.failures {
                    evidence.failures[component, default: []] += times.map { Observation(relay: part.part, time: $0) }
                }
            }
        }
    }
}
