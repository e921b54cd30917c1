import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            .gateway,
            check: { wiring in
                _ = try GatewayAccess(wiring.settings).certificate.map { try CurrentCertificate($0, logger: wiring.logger) }
            },
            wire: ServicePlan.gateway)
    }
}
