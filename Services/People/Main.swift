import Store
import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .people,
            check: {
                _ = try $0.settings.optional(.databaseURL, as: MongoURL.init)
                _ = try OpenIDSettings($0.settings)
                _ = try ProviderSettings($0.settings)
            },
            wire: { try await .people($0) })
    }
}
