import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .phone, aliases: ["--name": Setting.phoneName.declaration.flag, "--port": Setting.phonePort.declaration.flag]
        ) { try await ServicePlan.phone($0) }
    }
}
