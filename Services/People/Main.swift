import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.people, wire: ServicePlan.people)
    }
}
