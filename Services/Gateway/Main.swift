import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.gateway, wire: ServicePlan.gateway)
    }
}
