import ArgumentParser
import FoundationEssentials
import Glibc
import JSON

/// `msi doctor`: looks for what is wrong on this machine, and says what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks this machine's installation, and says what to do about what is wrong.",
        discussion: """
            It checks the settings of each service, the files and who can read them, the disk, the clock, the database, the sockets of \
            the services and their versions, FCM by a dry run through each relay, the gateway, its certificate, the ports for metrics, \
            and the canary with its token, its subject and its messages. FCM checks the dry run's message and delivers it to no phone. Nothing is changed. It works while nothing runs.

            On a machine with the packages, run it as root: keys and passwords are readable only by root.

            Exit status: 0 without a failure (warnings are none), 1 otherwise.
            """)

    @Flag(name: .customLong("json"), help: "Print one JSON document at the end.")
    var printsJSON = false

    func run() async throws {
        let installation = try Installation(environment: ProcessInfo.processInfo.environment)
        var findings: [Finding] = []
        let isPrinting = !printsJSON
        for await finding in Checkup(of: installation).findings {
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
