import ArgumentParser
import Base
import ServiceKit

/// `msi`: the operator's command.
@main
struct Operator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "msi", abstract: "Operates Mobile Student Intranet.",
        version: "msi \(productVersion)",
        subcommands: [
            Up.self, StatusCommand.self, DoctorCommand.self, Tail.self, TraceCommand.self, AccountCommand.self, AuditCommand.self,
            Send.self, BroadcastCommand.self, Sample.self, CubeCommand.self, ClassCommand.self, KeysCommand.self, Phone.self,
            Migrate.self, BackupCommand.self, RestoreCommand.self, OutboxCommand.self, WebPushCommand.self, SettingsCommand.self,
            ServicesCommand.self,
        ])

    static func main() {
        ProcessMain.run(makesPrivateFiles: true) { await main(nil) }
    }
}
