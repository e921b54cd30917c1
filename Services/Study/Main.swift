import ServiceKit
import Store

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .study,
            check: { wiring in
                _ = try wiring.settings.optional(.databaseURL, as: MongoURL.init)
                _ = try wiring.settings.studyRules()
            },
            wire: { try await .study($0) })
    }
}
