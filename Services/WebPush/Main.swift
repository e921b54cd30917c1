import ServiceKit
import Store

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .webpush,
            check: { wiring in
                _ = try wiring.settings.optional(.databaseURL, as: MongoURL.init)
                _ = try wiring.settings.optional(.webPushHosts) { try PushHosts(operators: $0) }
                _ = try wiring.settings.webPushContact
            },
            wire: ServicePlan.webPush)
    }
}
