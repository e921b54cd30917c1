import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            "msi-gateway", "takes portals' HTTP requests on 127.0.0.1 and hands them to the services.",
            settings: [
                Setting.gatewayPort.declaration, Setting.gatewayCORSOrigins.declaration,
                Setting.gatewayMaxConnections.declaration, Setting.messageTTL.declaration,
                Setting.alertTTL.declaration,
                Setting.fcmTopicPayloadLimit.declaration, Setting.cubeEndpoints.declaration,
                Setting.cubeEventsEndpoints.declaration, Setting.messageLogEndpoints.declaration,
            ],
            wire: ServicePlan.gateway)
    }
}
