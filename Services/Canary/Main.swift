import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.canary, check: { _ = try CanarySettings($0.settings) }, wire: ServicePlan.canary)
    }
}
