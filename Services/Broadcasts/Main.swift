import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.broadcast, wire: ServicePlan.broadcast)
    }
}
