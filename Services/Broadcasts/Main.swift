import Base
import Store
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .broadcast,
            check: { wiring in
                _ = try wiring.settings.optional(.databaseURL, as: MongoURL.init)
                guard wiring.onlyChecks else { return }
                _ = try wiring.settings.optional(.broadcastFile) { try DurableFiles.checkPlace(of: $0) }
            },
            wire: ServicePlan.broadcast)
    }
}
