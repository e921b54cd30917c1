import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.fcmRelay, wire: ServicePlan.fcmRelay)
    }
}
