import ArgumentParser
import FoundationEssentials
import Glibc
import Base
import ServiceKit

/// `msi doctor`: looks for what is wrong on this machine, and says what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks this machine's installation, and says what to do about what is wrong.",
        discussion: """
            It asks each service that runs about itself, and looks from outside at the rest: the settings of each service, the files and who \
            can read them, the disk, the clock, the database, the sockets, the versions, FCM by a dry run through each relay, the key of Web \
            Push and the last answer of each push service, the providers at which people sign in, the keys of students' tokens, the study \
            sessions and their map, the gateway, its certificate, and the canary with its token, its subject and its messages. FCM checks the dry run's message and delivers it to no phone. What is switched off is not checked. Nothing is \
            changed. It works while nothing runs.

            On a machine with the packages, run it as root: keys and passwords are readable only by root.

            Exit status: 0 without a failure (warnings are none), 1 otherwise.
            """)

    @Flag(help: "Connect to the push services of browsers as well: the known ones, and those of MSI_WEBPUSH_HOSTS.")
    var pushServices = false

    @Flag(name: .customLong("json"), help: "Print one JSON document at the end.")
    var printsJSON = false

    func run() async throws {
        let installation = try Installation(environment: ProcessInfo.processInfo.environment)
        var findings: [Finding] = []
        let isPrinting = !printsJSON
        for await finding in Checkup(of: installation, connectsToPushServices: pushServices).findings {
            findings.append(finding)
            guard isPrinting else { continue }
            print(finding)
            fflush(nil)
        }
        let report = FindingReport(findings)
        print(isPrinting ? "\n" + report.summary : String(decoding: try JSONCoder.encode(report), as: UTF8.self))
        if report.failures > 0 { throw ExitCode.failure }
    }
}

/// The checks of `msi doctor`. None changes anything.
struct Checkup: Sendable {
    private let installation: Installation
    private let connectsToPushServices: Bool

    init(of installation: Installation, connectsToPushServices: Bool = false) {
        self.installation = installation
        self.connectsToPushServices = connectsToPushServices
    }

    /// The findings, as they are made.
    var findings: AsyncStream<Finding> {
        AsyncStream { stream in
            let work = Task {
                await run { stream.yield($0) }
                stream.finish()
            }
            stream.onTermination = { _ in work.cancel() }
        }
    }

    private func run(_ report: @Sendable (Finding) -> Void) async {
        if installation.layout == .packages, let what = installation.unreadable {
            report(
                .warning(
                    .installation, "\(what) cannot be read by this user, so what the services read from there is not checked",
                    "sudo msi doctor"))
        }
        MachineCheck.findings.forEach(report)
        var mistakes: [String] = []
        let settings = await SettingValues(environment: installation.environment, mistakes: &mistakes)
        // With another user's configuration the other checks would be pointless.
        if installation.layout == .packages, installation.environment[SettingDeclaration.configFile.name] == nil {
            for mistake in mistakes { report(.failure(.configuration, mistake, "correct it")) }
            return
        }
        // A mistake in a setting hides the emulator; the check of the configuration names the mistake.
        let installation = (try? installation.withSettingsOfUp(settings)) ?? installation
        var known: [String] = []
        let values = await SettingValues(environment: installation.environment, mistakes: &known)
        await check(installation, values, mistakes, report)
    }

    /// - Parameter whole: The installation with all its services.
    private func check(
        _ whole: Installation, _ settings: SettingValues, _ mistakes: [String], _ report: @Sendable (Finding) -> Void
    ) async {
        let installation = whole.without(switchedOffBy: settings)
        // What is switched off may run nevertheless.
        let processes = await RunningProcess.all(of: whole, settings)
        let supervisor = RunningSupervisor.find(installation, settings)
        if supervisor == nil, processes.isEmpty, let other = await RunningSupervisor.elsewhere(installation, settings) {
            report(other)
        }
        // Checks that wait for an answer start at once; the report keeps its order.
        async let configuration = ConfigurationCheck(
            installation: installation, settings: settings, mistakes: mistakes, processes: processes
        ).result()
        async let database = outcome { try await DatabaseCheck(settings: settings).findings() }
        let gatewayCheck = GatewayCheck(
            installation: installation, settings: settings, processes: processes, supervisor: supervisor)
        async let gateway = outcome { try await gatewayCheck.answer() }
        async let bus = outcome {
            try await BusCheck(installation: installation, settings: settings, processes: processes, supervisor: supervisor)
                .result()
        }
        let people = await processes.first { $0.service == .people }?.settings()
        async let signIn = outcome {
            async let openID = try OpenIDCheck(settings: settings).findings()
            return try await openID + IdentityCheck(settings: settings, people: people).findings()
        }

        func all(_ findings: [Finding]) { findings.forEach(report) }
        let known = await configuration
        all(known.findings)

        /// A check that needs a setting with a mistake is left out, and the others run.
        func show(_ check: Finding.Check, _ outcome: Result<[Finding], any Error>) {
            switch outcome {
            case .success(let findings): all(findings)
            case .failure(let error):
                let reason = "\(error)"
                report(
                    .warning(
                        check,
                        "not checked: \(known.problems.contains(reason) ? "it needs a setting that has a mistake, see above" : reason)",
                        "correct the setting, and run msi doctor again"))
            }
        }

        show(.files, Result { try FileCheck(installation: installation, settings: settings).findings })
        show(.disk, Result { [try DiskCheck(settings: settings).finding] })
        show(.certificate, Result { try CertificateCheck(settings: settings).findings(at: Date()) })
        show(.database, await database)
        show(
            .processes,
            Result {
                try ProcessCheck(
                    installation: installation, settings: settings, processes: processes, supervisor: supervisor
                ).findings
            })
        let sockets = await bus
        let answers = (try? sockets.get()) ?? BusCheck.Result()
        all(
            await SettingsInEffectCheck(
                installation: installation, settings: settings, processes: processes, reports: answers.reports
            ).findings())
        show(.sockets, sockets.map(\.findings))
        async let fcm = outcome {
            try await FCMCheck(
                installation: installation, settings: settings, relays: answers.relays, stopped: processes.filter(\.isStopped),
                supervisor: supervisor
            ).findings()
        }
        async let webPush = outcome {
            try await WebPushCheck(
                installation: installation, settings: settings, services: answers.webPushServices,
                stopped: processes.filter(\.isStopped), connects: connectsToPushServices
            ).findings()
        }
        async let students = outcome { try await StudentCheck(settings: settings, people: answers.people).findings() }
        async let study = outcome {
            try await StudyCheck(installation: installation, settings: settings, services: answers.study).findings()
        }
        let answer = await gateway
        async let canary = outcome {
            try await CanaryCheck(
                installation: installation, settings: settings, processes: processes,
                isAnythingRunning: answers.isAnythingRunning, gateway: try? answer.get()
            ).findings()
        }
        show(.gateway, answer.map { gatewayCheck.findings(of: $0, isAnythingRunning: answers.isAnythingRunning) })
        all(VersionCheck(versions: answers.versions, installation: installation).findings)
        show(.fcm, await fcm)
        show(.webPush, await webPush)
        show(.signIn, await signIn)
        show(.students, await students)
        show(.study, await study)
        show(.canary, await canary)
    }

    private func outcome<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

/// What a check of `msi doctor` has found.
struct Finding: Encodable, Hashable, Sendable {
    enum Level: String, Encodable, Sendable {
        case ok, warning, failure
    }

    /// What was checked, in the order of the report.
    enum Check: String, Encodable, Sendable {
        case installation, configuration, files, secrets, disk, clock
        case timeZones = "time zones"
        case descriptors, database, processes, sockets, versions
        case fcm = "FCM"
        case webPush = "Web Push"
        case signIn = "sign-in"
        case students, study, gateway, certificate, canary
    }

    let check: Check
    let level: Level
    /// One sentence.
    let found: String
    /// What the operator can do about it; `nil` if nothing needs to be done.
    let advice: String?

    private init(_ check: Check, _ level: Level, _ found: String, _ advice: String?) {
        self.check = check
        self.level = level
        self.found = found
        self.advice = advice
    }

    static func ok(_ check: Check, _ found: String) -> Finding { Finding(check, .ok, found, nil) }

    /// Something works and may not stay so, or could not be checked.
    static func warning(_ check: Check, _ found: String, _ advice: String) -> Finding { Finding(check, .warning, found, advice) }

    /// Something does not work, or is open to others.
    static func failure(_ check: Check, _ found: String, _ advice: String) -> Finding { Finding(check, .failure, found, advice) }
}

extension Finding: CustomStringConvertible {
    var description: String {
        let head = Self.padded(level.rawValue, 9) + Self.padded(check.rawValue, 15) + found.withoutControlCharacters
        return head + (advice.map { "\n" + String(repeating: " ", count: 9) + "→ " + $0.withoutControlCharacters } ?? "")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

/// All findings of a run, as `--json` prints them.
struct FindingReport: Encodable, Sendable {
    let findings: [Finding]
    let failures: Int
    let warnings: Int

    init(_ findings: [Finding]) {
        self.findings = findings
        failures = findings.count { $0.level == .failure }
        warnings = findings.count { $0.level == .warning }
    }

    /// The last line for a person.
    var summary: String {
        func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let rest = findings.count - failures - warnings
        return "\(count(failures, "failure")), \(count(warnings, "warning")), \(rest) ok"
    }
}
