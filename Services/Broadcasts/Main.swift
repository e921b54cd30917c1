import MongoDatabase
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .broadcast, check: { _ = try $0.settings.optional(.databaseURL, as: MongoURL.init) },
            wire: ServicePlan.broadcast)
    }
}
