import Store
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .cube, check: { _ = try $0.settings.optional(.databaseURL, as: MongoURL.init) },
            wire: ServicePlan.cube)
    }
}
