import Store
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .messageLog, check: { _ = try $0.settings.optional(.databaseURL, as: MongoURL.init) },
            wire: { try await .messageLog($0) })
    }
}
