import ServiceKit

@main
enum Main {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "fleet" {
            ServiceMain.run(
                .phoneFleet, subcommand: "fleet",
                aliases: [
                    "--count": Setting.fleetCount.declaration.flag, "--seconds": Setting.fleetSeconds.declaration.flag,
                    "--unsteady": Setting.fleetUnsteady.declaration.flag,
                ]
            ) { try await ServicePlan.fleet($0) }
        }
        ServiceMain.run(
            .phone, aliases: ["--name": Setting.phoneName.declaration.flag, "--port": Setting.phonePort.declaration.flag],
            check: { _ = try ServicePlan.localBroadcasts($0.settings) }
        ) { try await ServicePlan.phone($0) }
    }
}
