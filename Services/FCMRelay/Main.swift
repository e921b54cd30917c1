import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .fcmRelay,
            check: { wiring in
                let projects = try await ProjectFactory(settings: wiring.settings, logger: wiring.logger).projects()
                for project in projects.all { await project.close() }
            },
            wire: ServicePlan.fcmRelay)
    }
}
