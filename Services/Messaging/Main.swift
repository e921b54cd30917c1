import ServiceKit
import Store

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .messaging,
            check: { wiring in
                _ = try wiring.settings.optional(.databaseURL, as: MongoURL.init)
                _ = try wiring.settings.messagingRules()
            },
            wire: { try await .messaging($0) })
    }
}
